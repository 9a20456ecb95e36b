import { cssOf } from './colours';
import { element } from './dom';
import { BodySettings } from './view';

const most = 400; // rows

/** The list of bodies: which are seen, and in what colour. */
export class BodyList {
  private settings = new Map<string, BodySettings>(); // by name of the body
  private kinds = new Map<string, string>();
  private isolated: string | null = null;
  private hiddenLater = new Set<string>();
  private list = element('div', 'bodies', { id: 'bodies' });
  private filter = element('input', 'filter', { type: 'search', placeholder: 'Find a body', hidden: '' });
  readonly elements: HTMLElement[];

  /** `changed` is called when bodies must be drawn in another way. */
  constructor(private changed: () => void) {
    const all = element('button', '', {}, 'Show all');
    all.addEventListener('click', () => this.showAll(true));
    const none = element('button', '', {}, 'Hide all');
    none.addEventListener('click', () => this.showAll(false));
    this.filter.addEventListener('input', () => this.fill());
    this.elements = [element('div', 'buttons', {}, all, none), this.filter, this.list];
  }

  get names(): string[] {
    return [...this.settings.keys()];
  }

  learn(bodies: { name: string; kind: string; colour: number }[]) {
    let more = false;
    for (const body of bodies)
      if (!this.settings.has(body.name)) {
        this.settings.set(body.name, { visible: !this.hiddenLater.has(body.name), colour: body.colour });
        this.kinds.set(body.name, body.kind);
        more = true;
      }
    if (more) this.fill();
  }

  /** How a body is drawn now. */
  effective(name: string): BodySettings {
    const own = this.settings.get(name)!;
    return this.isolated === null ? own : { ...own, visible: name === this.isolated };
  }

  /** Names of the bodies that are not seen. */
  get hidden(): string[] {
    return this.names.filter((name) => !this.effective(name).visible);
  }

  /** Hides these, also those that are not known yet, and shows the others. */
  hide(names: string[]) {
    this.isolated = null;
    this.hiddenLater = new Set(names);
    for (const [name, settings] of this.settings) settings.visible = !this.hiddenLater.has(name);
    this.changed();
    this.fill();
  }

  private showAll(visible: boolean) {
    this.isolated = null;
    for (const settings of this.settings.values()) settings.visible = visible;
    this.changed();
    this.fill();
  }

  private fill() {
    this.filter.hidden = this.settings.size <= 12;
    const wanted = this.filter.value.toLowerCase();
    const rows: HTMLElement[] = [];
    let left = 0;
    for (const [name, settings] of this.settings) {
      if (wanted && !name.toLowerCase().includes(wanted)) continue;
      if (rows.length >= most) ++left;
      else rows.push(this.row(name, settings));
    }
    if (left > 0) rows.push(element('div', 'more', {}, `… and ${left} more; use the search`));
    this.list.replaceChildren(...rows);
  }

  private row(name: string, settings: BodySettings): HTMLElement {
    const visible = element('input', '', { type: 'checkbox', title: 'Show or hide' });
    visible.checked = this.effective(name).visible;
    visible.addEventListener('change', () => {
      if (this.isolated !== null) {
        // What is seen now becomes what is set.
        for (const [other, s] of this.settings) s.visible = other === this.isolated;
        this.isolated = null;
      }
      settings.visible = visible.checked;
      this.changed();
      this.fill();
    });
    const colour = element('input', 'swatch', { type: 'color', title: 'Colour', value: cssOf(settings.colour) });
    colour.addEventListener('input', () => {
      settings.colour = parseInt(colour.value.slice(1), 16);
      this.changed();
    });
    const only = element('button', this.isolated === name ? 'only on' : 'only', { title: 'Show only this body, or all again' }, 'only');
    only.addEventListener('click', () => {
      this.isolated = this.isolated === name ? null : name;
      this.changed();
      this.fill();
    });
    const label = element('span', 'name', { title: name }, name);
    const row = element('div', 'body', { 'data-body': name }, visible, colour, label, element('small', '', {}, this.kinds.get(name)!.replace('_', ' ')), only);
    row.classList.toggle('hidden-body', !visible.checked);
    return row;
  }
}
