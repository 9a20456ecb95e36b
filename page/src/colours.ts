/** Linear light of an sRGB channel, 0 to 1. */
function linear(s: number): number {
  return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
}

export function linearOf(hex: number): [number, number, number] {
  return [linear(((hex >> 16) & 255) / 255), linear(((hex >> 8) & 255) / 255), linear((hex & 255) / 255)];
}

export function cssOf(hex: number): string {
  return '#' + hex.toString(16).padStart(6, '0');
}

/** A colour for each number from 0 to 1, from stops at equal distances. */
export class ColourMap {
  readonly table = new Float32Array(3 * 256); // linear
  readonly css: string; // a gradient from left to right
  readonly noValue: [number, number, number]; // linear; of points without a number

  constructor(stops: number[], noValue: number) {
    this.noValue = linearOf(noValue);
    for (let i = 0; i < 256; ++i) {
      const x = (i / 255) * (stops.length - 1);
      const k = Math.min(Math.floor(x), stops.length - 2);
      const [a, b] = [stops[k], stops[k + 1]];
      for (let c = 0; c < 3; ++c) {
        const shift = 16 - 8 * c;
        const s = ((a >> shift) & 255) * (1 - x + k) + ((b >> shift) & 255) * (x - k);
        this.table[3 * i + c] = linear(s / 255);
      }
    }
    this.css = `linear-gradient(to right, ${stops.map(cssOf).join(', ')})`;
  }
}

/** What numbers the ends of the colours stand for. */
export interface Range {
  low: number;
  high: number;
  logarithmic: boolean;
}

/** Where a value lies in a range, 0 to 1; not a number if the value is none. */
export function fraction(value: number, range: Range): number {
  const { low, high, logarithmic } = range;
  if (Number.isNaN(value)) return NaN;
  if (!(high > low)) return 0;
  const f = logarithmic && low > 0
    ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
    : (value - low) / (high - low);
  return f < 0 ? 0 : f > 1 ? 1 : f;
}

/** A number for people: three digits, and not more zeros than needed. */
export function shortNumber(x: number): string {
  if (!Number.isFinite(x)) return '–';
  if (x === 0) return '0';
  const a = Math.abs(x);
  if (a >= 1e5 || a < 1e-3) return x.toExponential(2).replace('e+', 'e');
  return String(Number(x.toPrecision(3)));
}
