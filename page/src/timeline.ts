// The bar with the frames of all runs, and what moves along it.
import { dragged, Drawing, element } from './dom';
import type { Run } from './run';

export class Timeline {
  readonly root = element('div', 'timeline', { role: 'slider', 'aria-label': 'time', tabindex: '0' });
  private readonly drawing: Drawing;
  private runs: Run[] = [];
  private end = 1;
  private now = 0;
  private loaded: (run: Run, frame: number) => boolean = () => false;

  constructor(seek: (time: number) => void, begin: () => void) {
    this.drawing = new Drawing(this.root, (context, width, height) => this.paint(context, width, height));
    this.root.addEventListener('pointerdown', begin);
    dragged(this.root, (x) => seek(Math.min(1, Math.max(0, (x - 7) / (this.drawing.width - 14))) * this.end));
  }

  update(runs: Run[], end: number, now: number, loaded: (run: Run, frame: number) => boolean) {
    this.runs = runs;
    this.end = end;
    this.now = now;
    this.loaded = loaded;
    this.root.setAttribute('aria-valuemin', '0');
    this.root.setAttribute('aria-valuemax', String(end));
    this.root.setAttribute('aria-valuenow', String(now));
    this.drawing.draw();
  }

  private paint(context: CanvasRenderingContext2D, width: number, height: number) {
    const x = (time: number) => 7 + (time / this.end) * (width - 14);
    const thick = Math.max(3, Math.min(8, 14 / Math.max(1, this.runs.length)));
    const total = thick * this.runs.length + 2 * (this.runs.length - 1);
    this.runs.forEach((run, r) => {
      const y = height / 2 - total / 2 + r * (thick + 2);
      const { times } = run;
      if (times.length === 0) return;
      const until = times.at(-1)!;
      context.fillStyle = '#d3d9e0';
      context.fillRect(x(0), y, Math.max(2, x(until) - x(0)), thick);
      // At most one mark per pixel.
      const pixels = Math.max(1, x(until) - x(0));
      const stride = Math.max(1, Math.floor(times.length / pixels));
      context.fillStyle = '#9fb4c9';
      for (let i = 0; i < times.length; i += stride) {
        if (!this.loaded(run, i)) continue;
        const next = times[Math.min(i + stride, times.length - 1)];
        context.fillRect(x(times[i]), y, Math.max(1, x(next) - x(times[i])), thick);
      }
      context.fillStyle = '#d81e3b';
      for (const frame of run.bad.keys())
        if (frame < times.length) context.fillRect(x(times[frame]) - 1, y - 2, 3, thick + 4);
    });
    context.fillStyle = '#1f6feb';
    context.beginPath();
    context.arc(x(this.now), height / 2, 7, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = '#ffffff';
    context.lineWidth = 2;
    context.stroke();
  }
}
