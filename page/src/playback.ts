import { element, icon } from './dom';
import { Run } from './run';
import { Timeline } from './timeline';

/** The present time: what moves it on, and the buttons below the pictures that do. */
export class Playback {
  time = 0;
  playing = false;
  loop = true;
  follow = true; // a live run

  readonly timeline = new Timeline(
    (time) => this.seek(this.nearestFrame(time)),
    () => this.pause(),
  );
  private speed = 1;
  private last = 0; // tick
  private playButton = element('button', 'play', { title: 'Play or pause (space)', id: 'play' }, icon('play'));
  private clock = element('span', 'clock', { id: 'clock' });
  private speedChoice = element('select', '', { title: 'Speed, relative to the simulated time', id: 'speed' });
  private loopBox = element('input', '', { type: 'checkbox', id: 'loop' });
  private followBox = element('input', '', { type: 'checkbox', id: 'follow' });
  private followLabel = element('label', 'choice', { hidden: '' }, this.followBox, 'Follow');

  constructor(private runs: Run[]) {}

  get end(): number {
    return Math.max(0, ...this.runs.map((run) => run.times.at(-1) ?? 0));
  }

  get live(): boolean {
    return this.runs.some((run) => run.live);
  }

  seek(time: number) {
    this.time = Math.min(Math.max(time, 0), this.end);
    // Who looks at an earlier moment does not want to be taken away from it.
    this.setFollow(this.time >= this.end);
  }

  /** The time of a frame, of whichever run, that is nearest. */
  nearestFrame(time: number): number {
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

  pause() {
    this.playing = false;
    this.playButton.replaceChildren(icon('play'));
  }

  play() {
    if (this.time >= this.end) this.time = 0;
    this.playing = true;
    this.setFollow(false);
    this.last = performance.now();
    this.playButton.replaceChildren(icon('pause'));
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** To the next frame of any run, or the one before. */
  stepFrame(by: number) {
    this.pause();
    const times = [...new Set(this.runs.flatMap((run) => run.times))].sort((a, b) => a - b);
    const slack = 1e-9 * this.end;
    const next = by > 0 ? times.find((t) => t > this.time + slack) : times.findLast((t) => t < this.time - slack);
    if (next !== undefined) this.seek(next);
  }

  /** Moves the time on. `ready`: whether everything can be shown at a time; it asks for what is missing. */
  tick(now: number, ready: (time: number) => boolean) {
    const passed = Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    if (!this.playing || !(this.end > 0)) return;
    let next = this.time + passed * this.speed;
    let wrapped = false;
    if (next > this.end) {
      wrapped = this.loop;
      next = this.loop ? 0 : this.end;
    }
    // Waits for frames that are on their way.
    if (ready(next)) this.time = next;
    if (!this.loop && !wrapped && this.time >= this.end && !this.live) this.pause();
  }

  /** After runs were looked at again. */
  keepUp(wasLive: boolean, followed: boolean) {
    this.followLabel.hidden = !this.live;
    if ((this.live || wasLive) && followed && !this.playing) this.time = this.end;
    if (this.time > this.end) this.time = this.end;
  }

  chooseSpeed() {
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

  /** Writes the time. */
  showClock() {
    const first = this.runs[0];
    const frame = first.frameAt(this.time);
    const digits = (this.end > 0 ? this.end : 1) < 0.1 ? 5 : 3;
    this.clock.textContent =
      `${this.time.toFixed(digits)} s` + (this.runs.length === 1 ? `  ·  frame ${Math.max(frame, 0)} of ${Math.max(first.times.length - 1, 0)}` : '');
  }

  makeControls(): HTMLElement {
    this.playButton.addEventListener('click', () => this.toggle());
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

  private setFollow(follow: boolean) {
    this.follow = follow;
    this.followBox.checked = follow;
  }
}
