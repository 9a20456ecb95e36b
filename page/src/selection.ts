import { getPicked, Picked, ServerError, Vec3 } from './api';
import { shortNumber } from './colours';
import { element } from './dom';
import { Pane } from './pane';

interface Selected {
  pane: Pane;
  cell: number;
  point: number; // of the frame
  values: Picked | null;
}

/** What was clicked on, with its values in the frame that is shown. */
export class Selection {
  readonly root = element('div', 'picked', { id: 'picked' });
  private selected: Selected | null = null;
  private refreshing = false;

  constructor(private panes: Pane[]) {
    this.show();
  }

  get values(): Picked | null {
    return this.selected?.values ?? null;
  }

  get idle() {
    return !this.refreshing;
  }

  pickAt(pane: Pane, x: number, y: number) {
    const hit = pane.view.pick(x, y);
    for (const other of this.panes) other.view.mark(null);
    if (!hit) return this.clear();
    pane.view.mark(hit.point);
    this.selected = { pane, cell: hit.cell, point: pane.view.shown!.topology.points[hit.point], values: null };
    void this.refresh();
  }

  clear() {
    for (const { view } of this.panes) view.mark(null);
    this.selected = null;
    this.show();
  }

  /** Another frame is shown in a pane. */
  frameShown(pane: Pane) {
    if (this.selected?.pane === pane) void this.refresh();
  }

  private async refresh() {
    if (this.refreshing) return; // the next one comes with the frame after
    this.refreshing = true;
    const selected = this.selected;
    try {
      while (selected && selected === this.selected) {
        const frame = selected.pane.wantedFrame;
        selected.values = await getPicked(selected.pane.run.of(frame), selected.cell, selected.point);
        if (frame === selected.pane.wantedFrame) break;
      }
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      if (selected) selected.values = null;
    } finally {
      this.refreshing = false;
    }
    this.show();
    // Another one was picked while this was under way.
    if (this.selected && this.selected !== selected) void this.refresh();
  }

  private show() {
    const values = this.values;
    if (!values) {
      this.root.replaceChildren(element('p', 'hint', {}, 'Click on a body to see its values.'));
      return;
    }
    const rows: [string, string][] = [
      ['Body', `${values.name} (${values.kind.replace('_', ' ')})`],
      ['Element', `${values.element.kind} ${values.element.number}`],
      ['Point', String(values.point)],
    ];
    const vector = (v: Vec3) => v.map(shortNumber).join(', ');
    rows.push(['Position', `${values.position.map((x) => x.toPrecision(5)).join(', ')} m`]);
    if (values.velocity) {
      rows.push(['Velocity', `${vector(values.velocity)} m/s`]);
      rows.push(['Speed', `${shortNumber(Math.hypot(...values.velocity))} m/s`]);
    }
    if (values.contact_force) {
      rows.push(['Contact force', `${vector(values.contact_force)} N`]);
      rows.push(['', `${shortNumber(Math.hypot(...values.contact_force))} N`]);
    }
    if (values.stress !== undefined && values.stress !== null) rows.push(['Stress', `${shortNumber(values.stress)} Pa`]);
    if (values.strain !== undefined && values.strain !== null) rows.push(['Strain', shortNumber(values.strain)]);
    this.root.replaceChildren(
      element('table', '', {}, ...rows.map(([name, value]) => element('tr', '', {}, element('th', '', {}, name), element('td', '', {}, value)))),
    );
  }
}
