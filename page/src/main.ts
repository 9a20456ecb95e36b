import './style.css';
import { getJson, ShownSurface, surfaces, Vec3 } from './api';
import { BodyList } from './bodies';
import { Colouring } from './colouring';
import { ColourMap } from './colours';
import { element } from './dom';
import { Link, linkText, parseLink, Pose, vectorText } from './link';
import { Pane } from './pane';
import { Playback } from './playback';
import { Plots, runColours } from './plots';
import { Run, Shown, Wanted } from './run';
import { Selection } from './selection';
import { Display, SurfaceStyle, View } from './view';

/** Puts the parts together: at every tick the frame of the present time is shown in each pane, or asked for. */
class App {
  private panes: Pane[] = [];
  private runs: Run[] = [];
  private shared: { origin: Vec3 | null } = { origin: null };
  private touched = false; // the camera, by hand
  private contacts = false;
  private display: Display = { style: 'solid', range: null, ground: true, shadows: false, forceScale: 0 };
  private restyle = true; // what is shown must be shown again
  private fitting = 0; // views that wait for the end of their run
  private largestForce = 0;
  private barsKey = '';
  private linkedPose: Pose | null = null; // of the link that was opened, until another view is chosen
  private styleChoice = element('select', '', { id: 'style' });
  private surfaceChoice = element('select', '', { id: 'surface' });
  private surfaceRow = element('label', 'row', { hidden: '' }, element('span', '', {}, 'Boundary'), this.surfaceChoice);
  private usualSurface: ShownSurface = 'shape';
  private linkBox = element('div', 'link', { hidden: '' });

  private playback = new Playback(this.runs);
  private plots = new Plots((time) => {
    this.playback.pause();
    this.playback.seek(this.playback.nearestFrame(time));
  });
  private bodies = new BodyList(() => (this.restyle = true));
  private selection = new Selection(this.panes);
  private colouring!: Colouring;

  async start(root: HTMLElement) {
    const list = await getJson<{ runs: { name: string }[]; surface: ShownSurface; colours: number[]; no_value: number }>('runs.json');
    const map = new ColourMap(list.colours, list.no_value);
    this.colouring = new Colouring(map, () => (this.restyle = true));
    document.title = `${list.runs.map((run) => run.name).join(', ')} – Apart`;

    const views = element('div', 'views');
    views.style.setProperty('--columns', String(list.runs.length <= 3 ? list.runs.length : Math.ceil(Math.sqrt(list.runs.length))));
    list.runs.forEach(({ name }, number) => {
      const run = new Run(number, list.runs.length, this.shared);
      run.name = name;
      const holder = element('div', 'view');
      views.append(holder);
      const pane = new Pane(run, holder, map, list.runs.length > 1 ? runColours[number % runColours.length] : '');
      this.runs.push(run);
      this.panes.push(pane);
      pane.listen(
        (x, y) => this.selection.pickAt(pane, x, y),
        () => {
          this.touched = true;
          for (const other of this.panes) if (other !== pane) other.view.follow(pane.view);
        },
      );
    });
    this.display.shadows = !this.panes[0].view.software;
    root.append(
      element('div', 'stage', {}, views, element('div', 'below', {}, this.playback.makeControls(), this.plots.root)),
      this.makePanel(),
    );
    window.addEventListener('keydown', (event) => this.key(event));
    this.usualSurface = list.surface;
    this.showSurface(list.surface);
    await this.poll();
    this.playback.time = this.playback.live ? this.playback.end : 0;
    this.playback.chooseSpeed();
    this.open(parseLink(location.hash));
    window.addEventListener('hashchange', () => this.open(parseLink(location.hash)));
    requestAnimationFrame((now) => this.tick(now));
  }

  private get wanted(): Wanted {
    return { field: this.colouring.field, contacts: this.contacts };
  }

  private tick(now: number) {
    requestAnimationFrame((next) => this.tick(next));
    this.playback.tick(now, (time) => {
      // Frames that cannot be shown are passed over.
      const here = this.panes.every(({ run }) => {
        const frame = run.frameAt(time);
        return frame < 0 || run.isBad(frame) || run.ready(frame, this.wanted) !== null;
      });
      if (!here) for (const { run } of this.panes) void run.request(run.frameAt(time), this.wanted);
      return here;
    });
    for (const pane of this.panes) this.showIn(pane);
    this.prefetch();
    for (const { view } of this.panes) view.render();
    this.updateBars();
  }

  /** Whether something else than this is shown. */
  private outdated(view: View, ready: Shown): boolean {
    const { shown } = view;
    return (
      this.restyle || shown?.positions !== ready.positions || shown.field !== ready.field || shown.contacts !== ready.contacts
    );
  }

  /** Shows in a pane the frame of the present time, if it is here, or asks for it. */
  private showIn(pane: Pane) {
    const { run, view } = pane;
    const frame = run.frameAt(this.playback.time);
    if (frame < 0) return pane.showMessage(frame);
    const wanted = this.wanted;
    const ready = run.ready(frame, wanted);
    if (!ready) {
      void run.request(frame, wanted);
    } else if (frame !== pane.wantedFrame || this.outdated(view, ready)) {
      if (!view.shown) view.origin = this.shared.origin!;
      this.bodies.learn(ready.topology.bodies);
      if (ready.topology.otherSurfaces) this.surfaceRow.hidden = false;
      if (pane === this.panes[0]) this.colouring.offer(ready.positions.fields);
      if (ready.field) this.colouring.learn(ready.field);
      if (ready.contacts) this.largestForce = Math.max(this.largestForce, ready.contacts.high ?? 0);
      this.colouring.update();
      this.display.range = this.colouring.range;
      this.display.forceScale = this.largestForce > 0 ? (0.12 * view.sceneSize) / Math.sqrt(this.largestForce) : 0;
      view.show(ready, ready.topology.bodies.map((body) => this.bodies.effective(body.name)), this.display);
      pane.wantedFrame = frame;
      if (!pane.fitted) {
        pane.fitted = true;
        view.fit();
        if (this.linkedPose) view.look(this.linkedPose);
        this.restyle = true; // sizes are known only now
        void this.fitToEnd(pane);
      }
      this.selection.frameShown(pane);
    }
    pane.showMessage(frame);
  }

  /** Widens the first look so that the end of the run is in the picture, too. */
  private async fitToEnd(pane: Pane) {
    const { run, view } = pane;
    const last = run.times.length - 1;
    const nothing = { field: null, contacts: false };
    ++this.fitting;
    if (last > 0) await run.request(last, nothing);
    --this.fitting;
    const end = run.ready(last, nothing);
    if (this.touched || !end || end.topology !== view.shown?.topology) return;
    view.fit([end.positions.xyz]);
    if (this.linkedPose) view.look(this.linkedPose);
    this.restyle = true;
    // Views side by side look the same way.
    if (pane !== this.panes[0]) view.follow(this.panes[0].view);
    else for (const other of this.panes.slice(1)) other.view.follow(view);
  }

  private prefetch() {
    for (const { run } of this.panes) {
      const frame = run.frameAt(this.playback.time);
      if (frame < 0) continue;
      const ahead = Math.min(this.playback.playing ? 60 : 12, run.roomFor, run.times.length - 1);
      for (let i = 1; i <= ahead && !run.busy; ++i) {
        const next = this.playback.loop ? (frame + i) % run.times.length : frame + i;
        if (next >= run.times.length) break;
        if (!run.isBad(next) && !run.ready(next, this.wanted)) void run.request(next, this.wanted);
      }
    }
  }

  private updateBars() {
    const end = this.playback.end > 0 ? this.playback.end : 1;
    const time = this.playback.time;
    const key = [time, end, ...this.runs.map((r) => `${r.times.length}/${r.columns.time?.length}/${r.loadedBytes}/${r.bad.size}`)].join();
    if (key === this.barsKey && !this.restyle) return;
    this.barsKey = key;
    this.restyle = false;
    this.playback.timeline.update(this.runs, end, time, (run, frame) => run.ready(frame, this.wanted) !== null);
    this.plots.update(this.runs, end, time);
    this.playback.showClock();
  }

  /** Looks how the runs stand, again and again. */
  private async poll() {
    const wasLive = this.playback.live;
    const followed = this.playback.follow;
    const before = this.runs.map((run) => run.times.length);
    const changes = await Promise.all(this.runs.map((run) => run.refresh()));
    if (changes.some(Boolean)) this.restyle = true;
    this.runs.forEach((run, i) => {
      if (before[i] < 2 && run.times.length >= 2) this.playback.chooseSpeed();
    });
    for (const pane of this.panes) pane.showStatus();
    this.playback.keepUp(wasLive, followed);
    setTimeout(() => void this.poll(), this.playback.live ? 500 : 2500);
  }

  private makePanel(): HTMLElement {
    const styles: [SurfaceStyle, string][] = [
      ['solid', 'Solid'],
      ['edges', 'Solid with edges'],
      ['wireframe', 'Wireframe'],
      ['glass', 'See-through'],
    ];
    const { styleChoice } = this;
    for (const [value, text] of styles) styleChoice.append(element('option', '', { value }, text));
    styleChoice.addEventListener('change', () => {
      this.display.style = styleChoice.value as SurfaceStyle;
      this.restyle = true;
    });
    for (const [value, text] of Object.entries(surfaces)) this.surfaceChoice.append(element('option', '', { value }, text));
    this.surfaceChoice.addEventListener('change', () => this.showSurface(this.surfaceChoice.value as ShownSurface));
    const check = (id: string, text: string, value: boolean, set: (on: boolean) => void) => {
      const box = element('input', '', { type: 'checkbox', id });
      box.checked = value;
      box.addEventListener('change', () => {
        set(box.checked);
        this.restyle = true;
      });
      return element('label', 'choice', {}, box, text);
    };
    const fit = element('button', '', { title: 'Look at everything (F)' }, 'Fit view');
    fit.addEventListener('click', () => this.fit());
    const picture = element('button', '', { title: 'Save what is seen as a picture' }, 'Save picture');
    picture.addEventListener('click', () => this.savePicture());
    const link = element('button', '', { title: 'An address that opens this frame, seen as now', id: 'link' }, 'Link');
    link.addEventListener('click', () => this.showLink());
    const row = (label: string, control: HTMLElement) => element('label', 'row', {}, element('span', '', {}, label), control);
    return element(
      'aside',
      'panel',
      {},
      element('h2', '', {}, 'Display'),
      row('Colour by', this.colouring.choice),
      this.colouring.legend,
      row('Surface', styleChoice),
      this.surfaceRow,
      element(
        'div',
        'choices',
        {},
        check('contacts', 'Contact forces', false, (on) => (this.contacts = on)),
        check('ground', 'Half-spaces', true, (on) => (this.display.ground = on)),
        check('shadows', 'Shadows', this.display.shadows, (on) => (this.display.shadows = on)),
      ),
      element('div', 'buttons', {}, fit, picture, link),
      this.linkBox,
      element('h2', '', {}, 'Selected'),
      this.selection.root,
      element('h2', '', {}, 'Bodies'),
      ...this.bodies.elements,
    );
  }

  private showSurface(surface: ShownSurface) {
    this.surfaceChoice.value = surface;
    if (this.runs.every((run) => run.surface === surface)) return;
    for (const run of this.runs) run.surface = surface;
    this.selection.clear(); // its numbers are those of the other surface
    this.restyle = true;
  }

  private fit() {
    for (const { view } of this.panes) view.fit();
    for (const { view } of this.panes.slice(1)) view.follow(this.panes[0].view);
    this.touched = false;
    this.linkedPose = null;
    this.restyle = true;
  }

  /** Shows what a link says. */
  private open(link: Link) {
    if (link.time !== undefined) {
      this.playback.pause();
      this.playback.seek(this.playback.nearestFrame(link.time));
    }
    if (link.pose) {
      this.linkedPose = link.pose;
      for (const { view, fitted } of this.panes) if (fitted) view.look(link.pose);
    }
    if (link.field !== undefined) this.colouring.choose(link.field);
    if ([...this.styleChoice.options].some(({ value }) => value === link.style))
      this.styleChoice.value = this.display.style = link.style as SurfaceStyle;
    if (link.surface !== undefined && link.surface in surfaces) this.showSurface(link.surface as ShownSurface);
    if (link.hidden?.length) this.bodies.hide(link.hidden);
    this.restyle = true;
  }

  /** The address of what is seen, and the command that draws it; copied if the browser allows. */
  private showLink() {
    const { run, view } = this.panes[0];
    const pose = view.pose;
    if (!pose) return;
    const text = linkText({
      time: this.playback.time,
      pose,
      field: this.colouring.field ?? undefined,
      style: this.display.style === 'solid' ? undefined : this.display.style,
      surface: run.surface === this.usualSurface ? undefined : run.surface,
      hidden: this.bodies.hidden,
    });
    const address = `${location.href.split('#')[0]}#${text}`;
    history.replaceState(null, '', `#${text}`);
    const colour = this.colouring.field ? ` --colour ${this.colouring.field}` : '';
    const surface = run.surface === 'shape' ? '' : ` --surface ${run.surface}`;
    const camera = (['eye', 'target', 'up'] as const).map((name) => ` --${name}=${vectorText(pose[name])}`).join('');
    const command = `apart render '${run.name}' -o picture.png --frame ${run.frameAt(this.playback.time)}${camera}${colour}${surface}`;
    const field = (id: string, label: string, value: string) => {
      const input = element('input', '', { readonly: '', id, title: label });
      input.value = value;
      input.addEventListener('focus', () => input.select());
      return element('label', 'row', {}, element('span', '', {}, label), input);
    };
    this.linkBox.replaceChildren(field('address', 'Address', address), field('command', 'Command', command));
    this.linkBox.hidden = false;
    void navigator.clipboard?.writeText(address).catch(() => {}); // may be forbidden; it can be copied from the box
  }

  private savePicture() {
    for (const { run, view } of this.panes) {
      view.render(true);
      const link = element('a', '', { href: view.canvas.toDataURL('image/png'), download: `${run.name}-${this.playback.time.toFixed(4)}s.png` });
      link.click();
    }
  }

  private key(event: KeyboardEvent) {
    const target = event.target as HTMLElement;
    const box = target instanceof HTMLInputElement && target.type === 'checkbox';
    const typing = target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && !box);
    const pressing = event.key === ' ' && (box || target instanceof HTMLButtonElement);
    if (event.ctrlKey || event.metaKey || event.altKey || typing || pressing) return;
    const { playback } = this;
    const actions: Record<string, () => void> = {
      ' ': () => playback.toggle(),
      ArrowLeft: () => playback.stepFrame(-1),
      ArrowRight: () => playback.stepFrame(1),
      Home: () => (playback.pause(), playback.seek(0)),
      End: () => (playback.pause(), playback.seek(playback.end)),
      f: () => this.fit(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    target.blur();
    action();
  }

  // ---- for tests and scripts ----------------------------------------------------------------------

  seek(time: number) {
    this.playback.seek(time);
  }

  play() {
    this.playback.play();
  }

  pause() {
    this.playback.pause();
  }

  /** Whether all that is wanted has been loaded and drawn. */
  private get settled(): boolean {
    const drawn = this.panes.every(({ run, view }) => {
      const frame = run.frameAt(this.playback.time);
      const ready = run.ready(frame, this.wanted);
      return !view.dirty && (frame < 0 || run.isBad(frame) || (ready !== null && !this.outdated(view, ready)));
    });
    return drawn && this.fitting === 0 && this.selection.idle;
  }

  /** What is on the screen. */
  report() {
    const { time, end, playing } = this.playback;
    return {
      time,
      end,
      playing,
      settled: this.settled,
      panes: this.panes.map(({ run, view, wantedFrame, message }) => ({
        name: run.name,
        status: run.state?.status,
        frames: run.times.length,
        shown: view.shown ? wantedFrame : -1,
        shownTime: view.shown?.positions.time ?? null,
        triangles: (view.shown?.topology.triangles.length ?? 0) / 3,
        contacts: view.contactLines,
        bad: [...run.bad.keys()],
        message: message.hidden ? '' : message.textContent,
        loadedBytes: run.loadedBytes,
      })),
      pose: this.panes[0]?.view.pose ?? null,
      selected: this.selection.values,
      bodies: this.bodies.names,
    };
  }

  /** Loads a frame of the first run, then measures how long it takes from there to the finished picture [ms]. */
  async measure(frame: number): Promise<{ load: number; show: number }> {
    const { run, view } = this.panes[0];
    const begin = performance.now();
    await run.request(frame, this.wanted);
    const loaded = performance.now();
    this.playback.time = run.times[frame];
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
