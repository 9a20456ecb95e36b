import { ColourMap } from './colours';
import { element } from './dom';
import { Run } from './run';
import { View } from './view';

const statusText: Record<string, string> = {
  starting: 'starting',
  running: 'running',
  finished: 'finished',
  interrupted: 'interrupted',
  failed: 'failed',
  refuted: 'refuted',
  gone: 'gone',
};

/** One run with its picture and the words on it. */
export class Pane {
  readonly view: View;
  wantedFrame = -1;
  fitted = false;
  readonly message = element('div', 'message', { hidden: '' });
  private status = element('span', 'status');

  /** `mark`: the colour of the run among several; empty: it is alone. */
  constructor(readonly run: Run, holder: HTMLElement, map: ColourMap, mark: string) {
    const title = element('div', 'title', {}, element('b', '', {}, run.name), this.status);
    if (mark) title.style.borderLeft = `4px solid ${mark}`;
    this.view = new View(holder, map);
    holder.append(title, this.message);
  }

  /** `clicked` and `turned`: what to do with a click, and when the camera was moved by hand. */
  listen(clicked: (x: number, y: number) => void, turned: () => void) {
    const { view } = this;
    view.onCamera = turned;
    let down: PointerEvent | null = null;
    view.canvas.addEventListener('pointerdown', (event) => (down = event));
    view.canvas.addEventListener('pointerup', (event) => {
      // A click, not the end of a turn.
      if (down && event.button === 0 && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4)
        clicked(event.clientX, event.clientY);
    });
    view.canvas.addEventListener('dblclick', (event) => {
      const hit = view.pick(event.clientX, event.clientY);
      if (!hit || !view.controls) return;
      view.controls.target.set(...hit.at);
      view.controls.update();
    });
  }

  /** How the run stands. */
  showStatus() {
    const { run, status } = this;
    const state = run.state;
    const quiet = run.live && (state?.age ?? 0) > 120 ? ` (silent for ${Math.round(state!.age! / 60)} min)` : '';
    status.textContent = (statusText[state?.status ?? ''] ?? '') + quiet;
    status.dataset.status = state?.status ?? '';
  }

  /** What is wrong with the run, or with a frame. */
  showMessage(frame: number) {
    const { run, message } = this;
    const bad = run.bad.get(frame);
    const state = run.state;
    let text = '';
    if (run.problem) text = run.problem;
    else if (bad) text = `Frame ${frame} cannot be shown: ${bad}`;
    else if (state?.reason && state.status !== 'finished') text = state.reason;
    if (message.textContent !== text) message.textContent = text;
    message.hidden = text === '';
  }
}
