import { Field, FieldKind } from './api';
import { ColourMap, Range, shortNumber } from './colours';
import { element } from './dom';

/** By which quantity bodies are coloured, and what the ends of the colours stand for. */
export class Colouring {
  field: string | null = null;
  range: Range | null = null;
  readonly choice = element('select', '', { id: 'field' });
  readonly legend = element('div', 'legend', { hidden: '' });
  private automatic = true;
  private seen = new Map<string, { low: number; high: number }>();
  private fields: FieldKind[] = [];
  private lowInput = element('input', 'number', { type: 'number', step: 'any', title: 'Lower end of the colours', id: 'low' });
  private highInput = element('input', 'number', { type: 'number', step: 'any', title: 'Upper end of the colours', id: 'high' });
  private unit = element('span', 'unit');

  constructor(map: ColourMap, changed: () => void) {
    this.choice.append(element('option', '', { value: '' }, 'Body'));
    this.choice.addEventListener('change', () => {
      this.choose(this.choice.value || null);
      changed();
    });
    const bar = element('div', 'bar');
    bar.style.background = map.css;
    const auto = element('button', '', { title: 'Colours span what has been seen so far' }, 'auto');
    auto.addEventListener('click', () => {
      this.automatic = true;
      this.seen.clear();
      this.range = null;
      changed();
    });
    for (const input of [this.lowInput, this.highInput])
      input.addEventListener('change', () => {
        this.automatic = false;
        changed();
      });
    this.legend.append(bar, element('div', 'ends', {}, this.lowInput, this.unit, auto, this.highInput));
  }

  choose(field: string | null) {
    this.field = field;
    this.automatic = true;
    this.range = null;
    this.choice.value = field ?? '';
  }

  /** The quantities that frames hold. */
  offer(fields: FieldKind[]) {
    if (fields.map((f) => f.name).join() === this.fields.map((f) => f.name).join()) return;
    this.fields = fields;
    this.choice.replaceChildren(
      element('option', '', { value: '' }, 'Body'),
      ...fields.map((f) => element('option', '', { value: f.name }, f.label)),
    );
    if (this.field && !fields.some((f) => f.name === this.field)) this.choose(null);
    this.choice.value = this.field ?? '';
  }

  /** The colours span what has been seen so far; what a frame's span, the program says, as it does for its own pictures. */
  learn({ name, low, high }: Field) {
    if (low === null || high === null) return;
    const seen = this.seen.get(name) ?? { low: Infinity, high: -Infinity };
    this.seen.set(name, { low: Math.min(seen.low, low), high: Math.max(seen.high, high) });
  }

  /** Brings range and legend up to date. */
  update() {
    const kind = this.fields.find((f) => f.name === this.field);
    this.legend.hidden = !kind;
    if (!kind) {
      this.range = null;
      return;
    }
    const seen = this.seen.get(kind.name) ?? { low: 0, high: 1 };
    if (this.automatic) {
      const range: Range = { low: seen.low, high: seen.high, logarithmic: kind.logarithmic };
      if (JSON.stringify(range) !== JSON.stringify(this.range)) {
        this.range = range;
        this.lowInput.value = shortNumber(range.low);
        this.highInput.value = shortNumber(range.high);
      }
    } else {
      this.range = { low: Number(this.lowInput.value), high: Number(this.highInput.value), logarithmic: kind.logarithmic };
    }
    this.unit.textContent = kind.unit;
  }
}
