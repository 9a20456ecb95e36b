// A link to what is seen: behind the # of the address, the time, the camera, and how bodies are shown.
import type { Vec3 } from './api';

/** In the world's coordinates [m]. */
export interface Pose {
  eye: Vec3;
  target: Vec3;
  up: Vec3;
}

export interface Link {
  time?: number; // [s]
  pose?: Pose;
  field?: string; // that bodies are coloured by
  style?: string;
  surface?: string;
  hidden?: string[]; // names of bodies
}

const digits = (x: number) => String(Number(x.toPrecision(9)));
export const vectorText = (x: Vec3) => x.map(digits).join(',');

function vectorOf(text: string | null): Vec3 | undefined {
  const numbers = text?.split(',').map(Number) ?? [];
  return numbers.length === 3 && numbers.every(Number.isFinite) ? (numbers as Vec3) : undefined;
}

export function linkText({ time, pose, field, style, surface, hidden }: Link): string {
  const parts: string[] = [];
  const add = (name: string, value: string) => parts.push(`${name}=${encodeURIComponent(value).replaceAll('%2C', ',')}`);
  if (time !== undefined) add('t', digits(time));
  if (pose) for (const name of ['eye', 'target', 'up'] as const) add(name, vectorText(pose[name]));
  if (field) add('colour', field);
  if (style) add('style', style);
  if (surface) add('surface', surface);
  for (const name of hidden ?? []) add('hide', name);
  return parts.join('&');
}

/** What can be understood of a text behind the #; the rest is passed over. */
export function parseLink(text: string): Link {
  const values = new URLSearchParams(text.replace(/^#/, '').replaceAll('+', '%2B'));
  const link: Link = { hidden: values.getAll('hide') };
  const time = Number(values.get('t') ?? NaN);
  if (Number.isFinite(time)) link.time = time;
  const [eye, target, up] = ['eye', 'target', 'up'].map((name) => vectorOf(values.get(name)));
  const distinct = (a: Vec3, b: Vec3) => a.some((x, k) => x !== b[k]);
  if (eye && target && up && distinct(eye, target) && distinct(up, [0, 0, 0])) link.pose = { eye, target, up };
  link.field = values.get('colour') ?? undefined;
  link.style = values.get('style') ?? undefined;
  link.surface = values.get('surface') ?? undefined;
  return link;
}
