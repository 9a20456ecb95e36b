/** An element with attributes, classes ("div.a.b") and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  classes = '',
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A canvas that has as many pixels as the screen gives it, and draws again when its size changes. */
export class Drawing {
  readonly canvas = element('canvas');
  width = 1;
  height = 1;
  constructor(
    readonly holder: HTMLElement,
    private paint: (context: CanvasRenderingContext2D, width: number, height: number) => void,
  ) {
    holder.append(this.canvas);
    new ResizeObserver(() => this.draw()).observe(holder);
  }
  draw() {
    this.width = this.holder.clientWidth;
    this.height = this.holder.clientHeight;
    if (this.width === 0 || this.height === 0) return;
    const ratio = devicePixelRatio;
    const [w, h] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== h) this.canvas.height = h;
    const context = this.canvas.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.paint(context, this.width, this.height);
  }
}

/** Calls `move` with the x of the pointer [pixels from the left of the element] while it is pressed. */
export function dragged(target: HTMLElement, move: (x: number) => void, end: () => void = () => {}) {
  target.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    target.setPointerCapture(event.pointerId);
    const at = (e: PointerEvent) => e.clientX - target.getBoundingClientRect().left;
    const follow = (e: PointerEvent) => move(at(e));
    move(at(event));
    target.addEventListener('pointermove', follow);
    target.addEventListener(
      'pointerup',
      () => {
        target.removeEventListener('pointermove', follow);
        end();
      },
      { once: true },
    );
  });
}

const shapes = {
  play: 'M3 1.5v13l11-6.5z',
  pause: 'M2.5 1.5h4v13h-4zM9.5 1.5h4v13h-4z',
  back: 'M12 1.5v13L3.5 8zM1.5 1.5h2v13h-2z',
  next: 'M4 1.5v13L12.5 8zM12.5 1.5h2v13h-2z',
};

/** Drawn, because not every font has the signs of a player. */
export function icon(name: keyof typeof shapes): SVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', shapes[name]);
  svg.append(path);
  return svg;
}
