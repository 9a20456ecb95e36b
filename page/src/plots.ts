// Curves of what the steps of the runs reported and their probes measured, over the same time as the timeline.
import type { Columns } from './api';
import { shortNumber } from './colours';
import { dragged, Drawing, element } from './dom';
import type { Run } from './run';

type Column = (number | null)[];

interface Curve {
  label: string;
  colour: string;
  time: Column;
  values: Column;
}

interface Plot {
  title: string;
  unit: string;
  logarithmic?: boolean;
  curves: (columns: Columns) => { label: string; colour: string; values: Column }[];
  probe?: boolean; // the columns are those of probes
}

const column = (name: string, colour: string, label = '') => (columns: Columns) =>
  columns[name] ? [{ label, colour, values: columns[name] }] : [];

function sum(columns: Column[]): Column {
  const length = Math.min(...columns.map((c) => c.length));
  return Array.from({ length }, (_, i) => columns.reduce((s, c) => s + (c[i] ?? 0), 0));
}

const plots: Plot[] = [
  {
    title: 'Energy',
    unit: 'J',
    curves: (columns) => {
      const parts = [
        { label: 'kinetic', name: 'kinetic_energy', colour: '#2e86ab' },
        { label: 'elastic', name: 'elastic_energy', colour: '#2a9d6f' },
        { label: 'gravity', name: 'gravity_energy', colour: '#f3a712' },
        { label: 'contact', name: 'contact_energy', colour: '#d81e5b' },
      ].filter((part) => columns[part.name]);
      const curves = parts.map(({ label, name, colour }) => ({ label, colour, values: columns[name] }));
      if (parts.length > 1)
        curves.unshift({ label: 'total', colour: '#333d49', values: sum(parts.map((part) => columns[part.name])) });
      return curves;
    },
  },
  { title: 'Newton iterations', unit: '', curves: column('newton_iterations', '#3d5a98') },
  { title: 'Contacts', unit: '', curves: column('contacts', '#d81e5b') },
  { title: 'Smallest gap', unit: 'm', logarithmic: true, curves: column('min_gap', '#2a9d6f') },
  { title: 'Step time', unit: 's', curves: column('seconds', '#9b5de5') },
];

export const runColours = ['#2e86ab', '#e4572e', '#2a9d6f', '#9b5de5', '#f3a712', '#d81e5b', '#333d49', '#8d6e63'];

/** The plots of probes: one of each probe and unit with a curve for each of its numbers, or, where several runs are compared, one
    of each number. */
function probePlots(runs: Run[]): Plot[] {
  const groups = new Map<string, { title: string; unit: string; names: string[] }>();
  for (const run of runs)
    for (const name of run.probeOrder.slice(2)) { // behind step and time
      const title = runs.length > 1 ? name : name.slice(0, name.lastIndexOf('.'));
      const unit = run.state?.units?.[name] ?? '';
      const group = groups.get(`${title}\n${unit}`) ?? { title, unit, names: [] };
      if (!group.names.includes(name)) group.names.push(name);
      groups.set(`${title}\n${unit}`, group);
    }
  const all = [...groups.values()];
  return all.map(({ title, unit, names }) => ({
    // One number of several has no legend that would name it.
    title: names.length === 1 && all.filter((group) => group.title === title).length > 1 ? names[0] : title,
    unit,
    probe: true,
    curves: (columns) =>
      names
        .filter((name) => columns[name])
        .map((name, i) => ({ label: name.slice(name.lastIndexOf('.') + 1), colour: runColours[i % runColours.length], values: columns[name] })),
  }));
}

class PlotView {
  private readonly drawing: Drawing;
  private readonly value = element('span', 'plot-value');
  private readonly legend = element('span', 'plot-legend');
  private curves: Curve[] = [];
  private end = 1;
  private now = 0;
  readonly root: HTMLElement;

  constructor(
    private plot: Plot,
    seek: (time: number) => void,
  ) {
    const holder = element('div', 'plot-area');
    this.root = element('div', 'plot', {}, element('div', 'plot-head', {}, element('b', '', {}, plot.title), this.legend, this.value), holder);
    this.drawing = new Drawing(holder, (context, width, height) => this.paint(context, width, height));
    dragged(holder, (x) => seek((Math.min(Math.max(x, 0), this.drawing.width) / this.drawing.width) * this.end));
  }

  update(runs: Run[], end: number, now: number) {
    this.end = end;
    this.now = now;
    this.curves = [];
    runs.forEach((run, r) => {
      const columns = this.plot.probe ? run.probes : run.columns;
      const made = this.plot.curves(columns);
      // Several runs are distinguished by colour, so only one curve of each has room.
      for (const curve of runs.length > 1 ? made.slice(0, 1) : made)
        this.curves.push({
          ...curve,
          label: runs.length > 1 ? run.name : curve.label,
          colour: runs.length > 1 ? runColours[r % runColours.length] : curve.colour,
          time: columns.time ?? [],
        });
    });
    const items = this.curves.length > 1 ? this.curves : [];
    const key = items.map((c) => c.label + c.colour).join();
    if (this.legend.dataset.key !== key) {
      this.legend.dataset.key = key;
      this.legend.replaceChildren(
        ...items.map((curve) => {
          const mark = element('i');
          mark.style.background = curve.colour;
          return element('span', '', {}, mark, curve.label);
        }),
      );
    }
    this.drawing.draw();
  }

  private paint(context: CanvasRenderingContext2D, width: number, height: number) {
    const logarithmic = this.plot.logarithmic ?? false;
    let low = Infinity;
    let high = -Infinity;
    for (const { values } of this.curves)
      for (const value of values) {
        if (value === null || (logarithmic && !(value > 0))) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    const unit = this.plot.unit ? ` ${this.plot.unit}` : '';
    if (!(high >= low)) {
      context.fillStyle = '#8a94a0';
      context.font = '11px system-ui, sans-serif';
      context.fillText('no values yet', 6, height / 2 + 4);
      this.value.textContent = '';
      return;
    }
    if (!logarithmic && !this.plot.probe && low > 0) low = 0;
    const room = 4;
    const y = (value: number) => {
      const f = logarithmic
        ? Math.log(Math.max(value, low) / low) / Math.max(Math.log(high / low), 1e-12)
        : (value - low) / Math.max(high - low, 1e-300);
      return height - room - f * (height - 2 * room);
    };
    const at: string[] = [];
    for (const { time, values, colour } of this.curves) {
      context.strokeStyle = colour;
      context.lineWidth = 1.3;
      context.beginPath();
      // Where there are more steps than pixels, the lowest and highest of each pixel.
      let started = false;
      let pixel = -1;
      let smallest = 0;
      let largest = 0;
      let current: number | null = null;
      const flush = () => {
        if (pixel < 0) return;
        if (started) context.lineTo(pixel, smallest);
        else context.moveTo(pixel, smallest);
        if (largest !== smallest) context.lineTo(pixel, largest);
        started = true;
      };
      for (let i = 0; i < values.length; ++i) {
        const [t, value] = [time[i], values[i]];
        if (t === null || t === undefined) continue;
        if (t <= this.now + 1e-9 * this.end) current = value;
        if (value === null || (logarithmic && !(value > 0))) continue;
        const x = Math.round((t / this.end) * width * 2) / 2;
        if (x !== pixel) {
          flush();
          pixel = x;
          smallest = largest = y(value);
        } else {
          smallest = Math.min(smallest, y(value));
          largest = Math.max(largest, y(value));
        }
      }
      flush();
      context.stroke();
      if (current !== null) {
        at.push(shortNumber(current));
        if (!logarithmic || current > 0) {
          context.fillStyle = colour;
          context.beginPath();
          context.arc((this.now / this.end) * width, y(current), 2.5, 0, 2 * Math.PI);
          context.fill();
        }
      }
    }
    // Over the curves, with a rim in the colour of the ground so that both can be read.
    context.font = '10px system-ui, sans-serif';
    context.lineWidth = 3;
    context.strokeStyle = '#f6f8fa';
    context.fillStyle = '#66717e';
    for (const [value, at] of [[high, 11], [low, height - 4]]) {
      context.strokeText(shortNumber(value) + unit, 3, at);
      context.fillText(shortNumber(value) + unit, 3, at);
    }
    context.strokeStyle = 'rgba(30, 40, 55, 0.45)';
    context.lineWidth = 1;
    context.beginPath();
    const x = Math.round((this.now / this.end) * (width - 1)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
    this.value.textContent = at.length > 0 ? at.slice(0, 1).join(' · ') + unit : '';
  }
}

export class Plots {
  private readonly views: PlotView[];
  private probeViews: PlotView[] = [];
  private readonly steps = element('div', 'plots');
  private readonly probes = element('div', 'plots probes', { hidden: '' });
  private probeKey = '';
  readonly root = element('div', 'plot-rows', {}, this.steps, this.probes);
  constructor(private seek: (time: number) => void) {
    this.views = plots.map((plot) => new PlotView(plot, seek));
    this.steps.append(...this.views.map((view) => view.root));
  }
  update(runs: Run[], end: number, now: number) {
    const key = JSON.stringify(runs.map((run) => [run.probeOrder, run.state?.units])); // units may be known later
    if (key !== this.probeKey) {
      this.probeKey = key;
      this.probeViews = probePlots(runs).map((plot) => new PlotView(plot, this.seek));
      this.probes.replaceChildren(...this.probeViews.map((view) => view.root));
      this.probes.hidden = this.probeViews.length === 0;
    }
    for (const view of [...this.views, ...this.probeViews]) view.update(runs, end, now);
  }
}
