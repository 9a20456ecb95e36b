import './style.css';
import { FieldKind, getJson, getPicked, Picked, ServerError, Vec3 } from './api';
import { ColourMap, cssOf, Range, shortNumber } from './colours';
import { element, icon } from './dom';
import { Plots, runColours } from './plots';
import { Run, Wanted } from './run';
import { Timeline } from './timeline';
import { BodySettings, Display, SurfaceStyle, View } from './view';

/** One run with its picture and the words on it. */
interface Pane {
  run: Run;
  view: View;
  status: HTMLElement;
  message: HTMLElement;
  wantedFrame: number;
  fitted: boolean;
}

interface Selection {
  pane: Pane;
  cell: number;
  point: number; // of the frame
  values: Picked | null;
}

const statusText: Record<string, string> = {
  starting: 'starting',
  running: 'running',
  finished: 'finished',
  interrupted: 'interrupted',
  failed: 'failed',
  refuted: 'refuted',
};

class App {
  private panes: Pane[] = [];
  private runs: Run[] = [];
  private shared: { origin: Vec3 | null } = { origin: null };
  private map!: ColourMap;

  private time = 0;
  private playing = false;
  private loop = true;
  private speed = 1;
  private follow = true; // a live run
  private lastTick = 0;
  private touched = false; // the camera, by hand

  private fieldName: string | null = null;
  private contacts = false;
  private display: Display = { style: 'solid', range: null, ground: true, shadows: false, forceScale: 0 };
  private automatic = true; // range of colours
  private seenRange = new Map<string, { low: number; high: number }>();
  private fields: FieldKind[] = [];
  private settings = new Map<string, BodySettings>(); // by name of the body
  private kinds = new Map<string, string>();
  private isolated: string | null = null;
  private selection: Selection | null = null;
  private restyle = true; // what is shown must be shown again
  private largestForce = 0;

  private timeline = new Timeline(
    (time) => this.seek(this.nearestFrame(time)),
    () => this.pause(),
  );
  private plots = new Plots((time) => {
    this.pause();
    this.seek(this.nearestFrame(time));
  });
  private playButton = element('button', 'play', { title: 'Play or pause (space)', id: 'play' }, icon('play'));
  private clock = element('span', 'clock', { id: 'clock' });
  private speedChoice = element('select', '', { title: 'Speed, relative to the simulated time', id: 'speed' });
  private loopBox = element('input', '', { type: 'checkbox', id: 'loop' });
  private followBox = element('input', '', { type: 'checkbox', id: 'follow' });
  private followLabel = element('label', 'choice', { hidden: '' }, this.followBox, 'Follow');
  private fieldChoice = element('select', '', { id: 'field' });
  private styleChoice = element('select', '', { id: 'style' });
  private legend = element('div', 'legend', { hidden: '' });
  private lowInput = element('input', 'number', { type: 'number', step: 'any', title: 'Lower end of the colours', id: 'low' });
  private highInput = element('input', 'number', { type: 'number', step: 'any', title: 'Upper end of the colours', id: 'high' });
  private unit = element('span', 'unit');
  private bodyList = element('div', 'bodies', { id: 'bodies' });
  private bodyFilter = element('input', 'filter', { type: 'search', placeholder: 'Find a body', hidden: '' });
  private picked = element('div', 'picked', { id: 'picked' });

  async start(root: HTMLElement) {
    const list = await getJson<{ runs: { name: string }[]; colours: number[] }>('runs.json');
    this.map = new ColourMap(list.colours);
    document.title = `${list.runs.map((run) => run.name).join(', ')} – Apart`;

    const views = element('div', 'views');
    views.style.setProperty('--columns', String(list.runs.length <= 3 ? list.runs.length : Math.ceil(Math.sqrt(list.runs.length))));
    list.runs.forEach(({ name }, number) => {
      const run = new Run(number, list.runs.length, this.shared);
      run.name = name;
      const holder = element('div', 'view');
      const status = element('span', 'status');
      const message = element('div', 'message', { hidden: '' });
      const title = element('div', 'title', {}, element('b', '', {}, name), status);
      if (list.runs.length > 1) title.style.borderLeft = `4px solid ${runColours[number % runColours.length]}`;
      views.append(holder);
      const view = new View(holder, this.map);
      holder.append(title, message);
      const pane: Pane = { run, view, status, message, wantedFrame: -1, fitted: false };
      this.runs.push(run);
      this.panes.push(pane);
      this.listen(pane);
    });
    this.display.shadows = !this.panes[0].view.software;
    root.append(
      element('div', 'stage', {}, views, element('div', 'below', {}, this.makeControls(), this.plots.root)),
      this.makePanel(),
    );
    window.addEventListener('keydown', (event) => this.key(event));
    await this.poll();
    this.time = 0;
    if (this.runs.some((run) => run.live)) this.time = this.end;
    this.chooseSpeed();
    requestAnimationFrame((now) => this.tick(now));
  }

  // ---- time ---------------------------------------------------------------------------------------

  private get end(): number {
    return Math.max(0, ...this.runs.map((run) => run.times.at(-1) ?? 0));
  }

  private get live(): boolean {
    return this.runs.some((run) => run.live);
  }

  seek(time: number) {
    this.time = Math.min(Math.max(time, 0), this.end);
    // Who looks at an earlier moment does not want to be taken away from it.
    this.setFollow(this.time >= this.end);
  }

  /** The time of a frame, of whichever run, that is nearest. */
  private nearestFrame(time: number): number {
    let best = time;
    let distance = Infinity;
    for (const run of this.runs) {
      const frame = run.frameAt(time);
      for (const candidate of [run.times[frame], run.times[frame + 1]])
        if (candidate !== undefined && Math.abs(candidate - time) < distance) {
          best = candidate;
          distance = Math.abs(candidate - time);
        }
    }
    return best;
  }

  private setFollow(follow: boolean) {
    this.follow = follow;
    this.followBox.checked = follow;
  }

  pause() {
    this.playing = false;
    this.playButton.replaceChildren(icon('play'));
  }

  play() {
    if (this.time >= this.end) this.time = 0;
    this.playing = true;
    this.setFollow(false);
    this.lastTick = performance.now();
    this.playButton.replaceChildren(icon('pause'));
  }

  /** To the next frame of any run, or the one before. */
  private stepFrame(by: number) {
    this.pause();
    const times = [...new Set(this.runs.flatMap((run) => run.times))].sort((a, b) => a - b);
    const slack = 1e-9 * this.end;
    const next = by > 0 ? times.find((t) => t > this.time + slack) : times.findLast((t) => t < this.time - slack);
    if (next !== undefined) this.seek(next);
  }

  private chooseSpeed() {
    // Real time, unless that would be more than 60 or less than 5 frames per second.
    const run = this.runs.find((r) => r.times.length > 1);
    const step = run ? (run.times.at(-1)! - run.times[0]) / (run.times.length - 1) : 0.02;
    let normal = 1;
    while (step > 0 && normal / step > 60) normal /= normal.toPrecision(1).startsWith('5') ? 2.5 : 2;
    while (step > 0 && normal / step < 5) normal *= 2;
    const factors = [...new Set([1, ...[0.1, 0.25, 0.5, 1, 2, 4].map((f) => Number((f * normal).toPrecision(2)))])].sort((a, b) => a - b);
    this.speed = Number(normal.toPrecision(2));
    this.speedChoice.replaceChildren(
      ...factors.map((f) => {
        const option = element('option', '', { value: String(f) }, `${f}×`);
        option.selected = f === this.speed;
        return option;
      }),
    );
  }

  private get wanted(): Wanted {
    return { field: this.fieldName, contacts: this.contacts };
  }

  private tick(now: number) {
    requestAnimationFrame((next) => this.tick(next));
    const passed = Math.min(0.25, (now - this.lastTick) / 1000);
    this.lastTick = now;
    if (this.playing && this.end > 0) {
      let next = this.time + passed * this.speed;
      let wrapped = false;
      if (next > this.end) {
        if (this.loop) {
          next = 0;
          wrapped = true;
        } else {
          next = this.end;
        }
      }
      // Waits for frames that are on their way; those that cannot be shown are passed over.
      const here = this.panes.every(({ run }) => {
        const frame = run.frameAt(next);
        return frame < 0 || run.isBad(frame) || run.ready(frame, this.wanted) !== null;
      });
      if (here) this.time = next;
      else for (const { run } of this.panes) void run.request(run.frameAt(next), this.wanted);
      if (!this.loop && !wrapped && this.time >= this.end && !this.live) this.pause();
    }
    for (const pane of this.panes) this.showIn(pane);
    this.prefetch();
    for (const { view } of this.panes) view.render();
    this.updateBars();
  }

  /** Shows in a pane the frame of the present time, if it is here, or asks for it. */
  private showIn(pane: Pane) {
    const { run, view } = pane;
    const frame = run.frameAt(this.time);
    if (frame < 0) return;
    const wanted = this.wanted;
    const ready = run.ready(frame, wanted);
    if (!ready) {
      void run.request(frame, wanted);
    } else if (
      frame !== pane.wantedFrame ||
      this.restyle ||
      view.shown?.positions !== ready.positions ||
      view.shown.field !== ready.field ||
      view.shown.contacts !== ready.contacts
    ) {
      if (!view.shown) view.origin = this.shared.origin!;
      this.learn(pane, ready.topology.bodies, ready.positions.fields);
      if (ready.field) this.learnRange(ready.field.name, ready.field.values);
      if (ready.contacts) this.largestForce = Math.max(this.largestForce, ready.contacts.high ?? 0);
      this.updateRange();
      this.display.forceScale = this.largestForce > 0 ? (0.12 * view.sceneSize) / Math.sqrt(this.largestForce) : 0;
      view.show(ready, ready.topology.bodies.map((body) => this.effective(body.name)), this.display);
      pane.wantedFrame = frame;
      if (!pane.fitted) {
        pane.fitted = true;
        view.fit();
        this.restyle = true; // sizes are known only now
        void this.fitToEnd(pane);
      }
      if (this.selection?.pane === pane) void this.refreshSelection();
    }
    const bad = run.bad.get(frame);
    const state = run.state;
    let text = '';
    if (run.problem) text = run.problem;
    else if (bad) text = `Frame ${frame} cannot be shown: ${bad}`;
    else if (state?.reason && state.status !== 'finished') text = state.reason;
    if (pane.message.textContent !== text) pane.message.textContent = text;
    pane.message.hidden = text === '';
  }

  /** Widens the first look so that the end of the run is in the picture, too. */
  private async fitToEnd(pane: Pane) {
    const { run, view } = pane;
    const last = run.times.length - 1;
    const nothing = { field: null, contacts: false };
    if (last > 0) await run.request(last, nothing);
    const end = run.ready(last, nothing);
    if (this.touched || !end || end.topology !== view.shown?.topology) return;
    view.fit([end.positions.xyz]);
    this.restyle = true;
    // Views side by side look the same way.
    if (pane !== this.panes[0]) view.follow(this.panes[0].view);
    else for (const other of this.panes.slice(1)) other.view.follow(view);
  }

  private prefetch() {
    for (const { run } of this.panes) {
      const frame = run.frameAt(this.time);
      if (frame < 0) continue;
      const ahead = Math.min(this.playing ? 60 : 12, run.roomFor, run.times.length - 1);
      for (let i = 1; i <= ahead && !run.busy; ++i) {
        const next = this.loop ? (frame + i) % run.times.length : frame + i;
        if (next >= run.times.length) break;
        if (!run.isBad(next) && !run.ready(next, this.wanted)) void run.request(next, this.wanted);
      }
    }
  }

  private barsKey = '';

  private updateBars() {
    const end = this.end > 0 ? this.end : 1;
    const key = [this.time, end, ...this.runs.map((r) => `${r.times.length}/${r.columns.time?.length}/${r.loadedBytes}/${r.bad.size}`)].join();
    if (key === this.barsKey && !this.restyle) return;
    this.barsKey = key;
    this.restyle = false;
    this.timeline.update(this.runs, end, this.time, (run, frame) => run.ready(frame, this.wanted) !== null);
    this.plots.update(this.runs, end, this.time);
    const first = this.runs[0];
    const frame = first.frameAt(this.time);
    const digits = end < 0.1 ? 5 : 3;
    this.clock.textContent =
      `${this.time.toFixed(digits)} s` + (this.runs.length === 1 ? `  ·  frame ${Math.max(frame, 0)} of ${Math.max(first.times.length - 1, 0)}` : '');
  }

  // ---- the state of the runs ----------------------------------------------------------------------

  private async poll() {
    const wasLive = this.live;
    const atEnd = this.follow;
    const before = this.runs.map((run) => run.times.length);
    const changes = await Promise.all(this.runs.map((run) => run.refresh()));
    if (changes.some(Boolean)) this.restyle = true;
    this.runs.forEach((run, i) => {
      if (before[i] < 2 && run.times.length >= 2) this.chooseSpeed();
    });
    for (const { run, status } of this.panes) {
      const state = run.state;
      const quiet = run.live && (state?.age ?? 0) > 120 ? ` (silent for ${Math.round(state!.age! / 60)} min)` : '';
      status.textContent = (statusText[state?.status ?? ''] ?? '') + quiet;
      status.dataset.status = state?.status ?? '';
    }
    this.followLabel.hidden = !this.live;
    if ((this.live || wasLive) && atEnd && !this.playing) this.time = this.end;
    if (this.time > this.end) this.time = this.end;
    setTimeout(() => void this.poll(), this.live ? 500 : 2500);
  }

  // ---- bodies, colours ----------------------------------------------------------------------------

  private learn(pane: Pane, bodies: { name: string; kind: string; colour: number }[], fields: FieldKind[]) {
    let more = false;
    for (const body of bodies)
      if (!this.settings.has(body.name)) {
        this.settings.set(body.name, { visible: true, colour: body.colour });
        this.kinds.set(body.name, body.kind);
        more = true;
      }
    if (more) this.listBodies();
    if (pane === this.panes[0] && fields.map((f) => f.name).join() !== this.fields.map((f) => f.name).join()) {
      this.fields = fields;
      const option = (value: string, text: string) => {
        const made = element('option', '', { value }, text);
        made.selected = value === (this.fieldName ?? '');
        return made;
      };
      this.fieldChoice.replaceChildren(option('', 'Body'), ...fields.map((f) => option(f.name, f.label)));
    }
  }

  private effective(name: string): BodySettings {
    const own = this.settings.get(name)!;
    return this.isolated === null ? own : { ...own, visible: name === this.isolated };
  }

  private listBodies() {
    this.bodyFilter.hidden = this.settings.size <= 12;
    const filter = this.bodyFilter.value.toLowerCase();
    const rows: HTMLElement[] = [];
    const most = 400;
    let left = 0;
    for (const [name, settings] of this.settings) {
      if (filter && !name.toLowerCase().includes(filter)) continue;
      if (rows.length >= most) {
        ++left;
        continue;
      }
      const visible = element('input', '', { type: 'checkbox', title: 'Show or hide' });
      visible.checked = this.effective(name).visible;
      visible.addEventListener('change', () => {
        if (this.isolated !== null) {
          // What is seen now becomes what is set.
          for (const [other, s] of this.settings) s.visible = other === this.isolated;
          this.isolated = null;
        }
        settings.visible = visible.checked;
        this.restyle = true;
        this.listBodies();
      });
      const colour = element('input', 'swatch', { type: 'color', title: 'Colour', value: cssOf(settings.colour) });
      colour.addEventListener('input', () => {
        settings.colour = parseInt(colour.value.slice(1), 16);
        this.restyle = true;
      });
      const only = element('button', this.isolated === name ? 'only on' : 'only', { title: 'Show only this body, or all again' }, 'only');
      only.addEventListener('click', () => {
        this.isolated = this.isolated === name ? null : name;
        this.restyle = true;
        this.listBodies();
      });
      const label = element('span', 'name', { title: name }, name);
      const row = element('div', 'body', { 'data-body': name }, visible, colour, label, element('small', '', {}, this.kinds.get(name)!.replace('_', ' ')), only);
      row.classList.toggle('hidden-body', !visible.checked);
      rows.push(row);
    }
    if (left > 0) rows.push(element('div', 'more', {}, `… and ${left} more; use the search`));
    this.bodyList.replaceChildren(...rows);
  }

  private showAll(visible: boolean) {
    this.isolated = null;
    for (const settings of this.settings.values()) settings.visible = visible;
    this.restyle = true;
    this.listBodies();
  }

  /** The colours span what has been seen so far, without the most extreme hundredth: one point must not darken the rest. */
  private learnRange(name: string, values: Float32Array) {
    const stride = Math.max(1, Math.floor(values.length / 5000));
    const sample: number[] = [];
    for (let i = 0; i < values.length; i += stride) if (!Number.isNaN(values[i])) sample.push(values[i]);
    if (sample.length === 0) return;
    sample.sort((a, b) => a - b);
    const at = (f: number) => sample[Math.min(sample.length - 1, Math.floor(f * sample.length))];
    const kind = this.fields.find((f) => f.name === name);
    const seen = this.seenRange.get(name) ?? { low: Infinity, high: -Infinity };
    seen.low = Math.min(seen.low, kind?.logarithmic ? at(0) : 0);
    seen.high = Math.max(seen.high, at(0.995));
    this.seenRange.set(name, seen);
  }

  private updateRange() {
    const kind = this.fields.find((f) => f.name === this.fieldName);
    this.legend.hidden = !kind;
    if (!kind) {
      this.display.range = null;
      return;
    }
    const seen = this.seenRange.get(kind.name) ?? { low: 0, high: 1 };
    if (this.automatic) {
      const range: Range = { low: seen.low, high: seen.high, logarithmic: kind.logarithmic };
      if (JSON.stringify(range) !== JSON.stringify(this.display.range)) {
        this.display.range = range;
        this.lowInput.value = shortNumber(range.low);
        this.highInput.value = shortNumber(range.high);
      }
    } else {
      this.display.range = { low: Number(this.lowInput.value), high: Number(this.highInput.value), logarithmic: kind.logarithmic };
    }
    this.unit.textContent = kind.unit;
  }

  // ---- picking ------------------------------------------------------------------------------------

  private listen(pane: Pane) {
    const { view } = pane;
    view.onCamera = () => {
      this.touched = true;
      for (const other of this.panes) if (other !== pane) other.view.follow(view);
    };
    let down: PointerEvent | null = null;
    view.canvas.addEventListener('pointerdown', (event) => (down = event));
    view.canvas.addEventListener('pointerup', (event) => {
      // A click, not the end of a turn.
      if (down && event.button === 0 && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4)
        this.pickAt(pane, event.clientX, event.clientY);
    });
    view.canvas.addEventListener('dblclick', (event) => {
      const hit = view.pick(event.clientX, event.clientY);
      if (!hit || !view.controls) return;
      view.controls.target.set(...hit.at);
      view.controls.update();
    });
  }

  private pickAt(pane: Pane, x: number, y: number) {
    const hit = pane.view.pick(x, y);
    for (const other of this.panes) other.view.mark(null);
    if (!hit) {
      this.selection = null;
      this.showSelection();
      return;
    }
    pane.view.mark(hit.point);
    this.selection = { pane, cell: hit.cell, point: pane.view.shown!.topology.points[hit.point], values: null };
    void this.refreshSelection();
  }

  private refreshing = false;

  private async refreshSelection() {
    if (this.refreshing) return; // the next one comes with the frame after
    this.refreshing = true;
    const selection = this.selection;
    try {
      while (selection && selection === this.selection) {
        const frame = selection.pane.wantedFrame;
        selection.values = await getPicked(selection.pane.run.number, frame, selection.cell, selection.point);
        if (frame === selection.pane.wantedFrame) break;
      }
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      if (selection) selection.values = null;
    } finally {
      this.refreshing = false;
    }
    this.showSelection();
    // Another one was picked while this was under way.
    if (this.selection && this.selection !== selection) void this.refreshSelection();
  }

  private showSelection() {
    const values = this.selection?.values;
    if (!values) {
      this.picked.replaceChildren(element('p', 'hint', {}, 'Click on a body to see its values.'));
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
    this.picked.replaceChildren(
      element('table', '', {}, ...rows.map(([name, value]) => element('tr', '', {}, element('th', '', {}, name), element('td', '', {}, value)))),
    );
  }

  // ---- controls -----------------------------------------------------------------------------------

  private makeControls(): HTMLElement {
    this.playButton.addEventListener('click', () => (this.playing ? this.pause() : this.play()));
    const back = element('button', '', { title: 'One frame back (←)', id: 'back' }, icon('back'));
    const next = element('button', '', { title: 'One frame on (→)', id: 'next' }, icon('next'));
    back.addEventListener('click', () => this.stepFrame(-1));
    next.addEventListener('click', () => this.stepFrame(1));
    this.speedChoice.addEventListener('change', () => (this.speed = Number(this.speedChoice.value)));
    this.loopBox.checked = this.loop;
    this.loopBox.addEventListener('change', () => (this.loop = this.loopBox.checked));
    this.followBox.checked = this.follow;
    this.followBox.addEventListener('change', () => {
      this.follow = this.followBox.checked;
      if (this.follow) {
        this.pause();
        this.time = this.end;
      }
    });
    return element(
      'div',
      'controls',
      {},
      this.playButton,
      back,
      next,
      this.timeline.root,
      this.clock,
      this.speedChoice,
      element('label', 'choice', { title: 'Begin again at the end' }, this.loopBox, 'Loop'),
      this.followLabel,
    );
  }

  private makePanel(): HTMLElement {
    this.fieldChoice.append(element('option', '', { value: '' }, 'Body'));
    this.fieldChoice.addEventListener('change', () => {
      this.fieldName = this.fieldChoice.value || null;
      this.automatic = true;
      this.display.range = null;
      this.restyle = true;
    });
    const styles: [SurfaceStyle, string][] = [
      ['solid', 'Solid'],
      ['edges', 'Solid with edges'],
      ['wireframe', 'Wireframe'],
      ['glass', 'See-through'],
    ];
    for (const [value, text] of styles) this.styleChoice.append(element('option', '', { value }, text));
    this.styleChoice.addEventListener('change', () => {
      this.display.style = this.styleChoice.value as SurfaceStyle;
      this.restyle = true;
    });
    const check = (id: string, text: string, value: boolean, set: (on: boolean) => void) => {
      const box = element('input', '', { type: 'checkbox', id });
      box.checked = value;
      box.addEventListener('change', () => {
        set(box.checked);
        this.restyle = true;
      });
      return element('label', 'choice', {}, box, text);
    };
    const bar = element('div', 'bar');
    bar.style.background = this.map.css;
    const auto = element('button', '', { title: 'Colours span what has been seen so far' }, 'auto');
    auto.addEventListener('click', () => {
      this.automatic = true;
      this.seenRange.clear();
      this.display.range = null;
      this.restyle = true;
    });
    for (const input of [this.lowInput, this.highInput])
      input.addEventListener('change', () => {
        this.automatic = false;
        this.restyle = true;
      });
    this.legend.append(bar, element('div', 'ends', {}, this.lowInput, this.unit, auto, this.highInput));
    const fit = element('button', '', { title: 'Look at everything (F)' }, 'Fit view');
    fit.addEventListener('click', () => this.fit());
    const picture = element('button', '', { title: 'Save what is seen as a picture' }, 'Save picture');
    picture.addEventListener('click', () => this.savePicture());
    const all = element('button', '', {}, 'Show all');
    all.addEventListener('click', () => this.showAll(true));
    const none = element('button', '', {}, 'Hide all');
    none.addEventListener('click', () => this.showAll(false));
    this.bodyFilter.addEventListener('input', () => this.listBodies());
    this.showSelection();
    const row = (label: string, control: HTMLElement) => element('label', 'row', {}, element('span', '', {}, label), control);
    return element(
      'aside',
      'panel',
      {},
      element('h2', '', {}, 'Display'),
      row('Colour by', this.fieldChoice),
      this.legend,
      row('Surface', this.styleChoice),
      element(
        'div',
        'choices',
        {},
        check('contacts', 'Contact forces', false, (on) => (this.contacts = on)),
        check('ground', 'Half-spaces', true, (on) => (this.display.ground = on)),
        check('shadows', 'Shadows', this.display.shadows, (on) => (this.display.shadows = on)),
      ),
      element('div', 'buttons', {}, fit, picture),
      element('h2', '', {}, 'Selected'),
      this.picked,
      element('h2', '', {}, 'Bodies'),
      element('div', 'buttons', {}, all, none),
      this.bodyFilter,
      this.bodyList,
    );
  }

  private fit() {
    for (const { view } of this.panes) view.fit();
    for (const { view } of this.panes.slice(1)) view.follow(this.panes[0].view);
    this.touched = false;
    this.restyle = true;
  }

  private savePicture() {
    for (const { run, view } of this.panes) {
      view.render(true);
      const link = element('a', '', { href: view.canvas.toDataURL('image/png'), download: `${run.name}-${this.time.toFixed(4)}s.png` });
      link.click();
    }
  }

  private key(event: KeyboardEvent) {
    const target = event.target as HTMLElement;
    const box = target instanceof HTMLInputElement && target.type === 'checkbox';
    const typing = target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && !box);
    const pressing = event.key === ' ' && (box || target instanceof HTMLButtonElement);
    if (event.ctrlKey || event.metaKey || event.altKey || typing || pressing) return;
    const actions: Record<string, () => void> = {
      ' ': () => (this.playing ? this.pause() : this.play()),
      ArrowLeft: () => this.stepFrame(-1),
      ArrowRight: () => this.stepFrame(1),
      Home: () => (this.pause(), this.seek(0)),
      End: () => (this.pause(), this.seek(this.end)),
      f: () => this.fit(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    target.blur();
    action();
  }

  // ---- for tests and scripts ----------------------------------------------------------------------

  /** What is on the screen. */
  report() {
    return {
      time: this.time,
      end: this.end,
      playing: this.playing,
      panes: this.panes.map(({ run, view, wantedFrame, message }) => ({
        name: run.name,
        status: run.state?.status,
        frames: run.times.length,
        shown: view.shown ? wantedFrame : -1,
        triangles: (view.shown?.topology.triangles.length ?? 0) / 3,
        contacts: view.contactLines,
        bad: [...run.bad.keys()],
        message: message.hidden ? '' : message.textContent,
        loadedBytes: run.loadedBytes,
      })),
      selected: this.selection?.values ?? null,
      bodies: [...this.settings.keys()],
    };
  }

  /** Loads a frame of the first run, then measures how long it takes from there to the finished picture [ms]. */
  async measure(frame: number): Promise<{ load: number; show: number }> {
    const { run, view } = this.panes[0];
    const begin = performance.now();
    await run.request(frame, this.wanted);
    const loaded = performance.now();
    this.time = run.times[frame];
    this.showIn(this.panes[0]);
    view.render(true);
    view.finish();
    return { load: loaded - begin, show: performance.now() - loaded };
  }
}

const app = new App();
const root = document.getElementById('app')!;
app.start(root).catch((error: Error) => {
  root.replaceChildren(element('div', 'fatal', {}, error.message));
});
Object.assign(window, { apart: app });
