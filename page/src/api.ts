// What the server says, as src/apart/web/packets.hpp describes it.

export type Vec3 = [number, number, number];

/** Which surface of volumes of curved cells, or with a collision surface of their own. */
export const surfaces = { shape: 'Shape', collision: 'Collision surface', cells: 'Cells' } as const;
export type ShownSurface = keyof typeof surfaces;

/** A frame of a run, with one of its surfaces. */
export interface FrameOf {
  run: number;
  frame: number;
  surface: ShownSurface;
}

const query = ({ frame, surface }: FrameOf) => `frame=${frame}&surface=${surface}`;

export interface Body {
  name: string;
  kind: string;
  colour: number; // sRGB 0xRRGGBB
  radius?: number; // of rods and particles [m]; absent: the frame does not have it
  thickness?: number; // of shells [m]; absent: the frame does not have it
}

export interface Topology {
  key: string;
  otherSurfaces: boolean; // of the run: it has more than one
  bodies: Body[];
  points: Int32Array; // number of each point in the frame
  body: Int32Array; // of each point
  triangles: Int32Array;
  triangleCell: Int32Array;
  segments: Int32Array;
  balls: Int32Array;
  firstFaceCell: number; // triangles of cells below it bound a volume
  firstSegmentCell: number;
  firstBallCell: number;
}

export interface HalfSpace {
  origin: Vec3;
  normal: Vec3;
  body: number;
}

export interface FieldKind {
  name: string;
  label: string;
  unit: string;
  logarithmic: boolean;
}

export interface Positions {
  time: number;
  key: string; // of the topology
  absent: number[];
  halfSpaces: HalfSpace[];
  fields: FieldKind[];
  xyz: Float32Array; // [m], relative to the origin
}

export interface Field {
  name: string;
  low: number | null;
  high: number | null;
  values: Float32Array;
}

/** Numbers in named columns; null: not a number. */
export type Columns = Record<string, (number | null)[]>;

export interface RunState {
  name: string;
  scene: string;
  status: 'starting' | 'running' | 'finished' | 'interrupted' | 'failed' | 'refuted' | 'gone' | 'unknown';
  reason?: string;
  problem?: string;
  units?: Record<string, string>; // of columns that have one
  age?: number; // seconds since something was written
  generation: string;
  frames: { count: number; from: number; times: number[]; before: string; stamp: string }; // stamps: see web/run_folder.hpp
  steps: { count: number; from: number; columns: Columns };
  probes: { count: number; from: number; columns: Columns; order: string[] };
}

export interface Picked {
  body: number;
  name: string;
  kind: string;
  element: { kind: string; number: number; cell: number };
  corners: number[];
  point: number;
  position: Vec3;
  velocity?: Vec3;
  contact_force?: Vec3;
  stress?: number | null;
  strain?: number | null;
}

/** An answer of the server that says what is wrong, in a sentence. */
export class ServerError extends Error {}

async function get(address: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address);
  } catch {
    throw new ServerError('apart view has ended; start it again to go on');
  }
  if (response.ok) return response;
  const text = await response.text();
  let message = `${response.status} ${response.statusText}`;
  try {
    message = JSON.parse(text).error ?? message;
  } catch {
    // not one of ours
  }
  throw new ServerError(message);
}

export async function getJson<T>(address: string): Promise<T> {
  return (await get(address)).json() as Promise<T>;
}

interface Packet {
  header: any;
  buffer: ArrayBuffer;
  offset: number; // of the arrays
}

async function getPacket(address: string): Promise<Packet> {
  const buffer = await (await get(address)).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { header, buffer, offset: 4 + length };
}

export async function getTopology(of: FrameOf): Promise<Topology> {
  const { header, buffer, offset } = await getPacket(`${of.run}/topology?${query(of)}`);
  let at = offset;
  const take = (count: number) => {
    const array = new Int32Array(buffer, at, count);
    at += 4 * count;
    return array;
  };
  return {
    key: header.key,
    otherSurfaces: header.other_surfaces,
    bodies: header.bodies,
    firstFaceCell: header.first_face_cell,
    firstSegmentCell: header.first_segment_cell,
    firstBallCell: header.first_ball_cell,
    points: take(header.points),
    body: take(header.points),
    triangles: take(3 * header.triangles),
    triangleCell: take(header.triangles),
    segments: take(2 * header.segments),
    balls: take(header.balls),
  };
}

/** Turns three planes of bytes back into coordinates; see position_packet. */
export function decodeAxis(bytes: Uint8Array, count: number, low: number, step: number, axis: number, xyz: Float32Array) {
  let q = 0;
  for (let i = 0; i < count; ++i) {
    q = (q + (bytes[i] | (bytes[count + i] << 8) | (bytes[2 * count + i] << 16))) & 0xffffff;
    xyz[3 * i + axis] = low + q * step;
  }
}

/** `origin`: what the coordinates are taken relative to, so that single precision is enough far from zero, too. */
export async function getPositions(of: FrameOf, origin: Vec3 | null): Promise<{ positions: Positions; origin: Vec3 }> {
  const { header, buffer, offset } = await getPacket(`${of.run}/positions?${query(of)}`);
  const count = (buffer.byteLength - offset) / 9;
  const xyz = new Float32Array(3 * count);
  const base = origin ?? (header.low as number[]).map((low, k) => low + 0.5 * (2 ** 24 - 1) * header.step[k]) as Vec3;
  for (let axis = 0; axis < 3; ++axis) {
    const bytes = new Uint8Array(buffer, offset + 3 * count * axis, 3 * count);
    decodeAxis(bytes, count, header.low[axis] - base[axis], header.step[axis], axis, xyz);
  }
  const positions = {
    time: header.time,
    key: header.key,
    absent: header.absent,
    halfSpaces: header.half_spaces,
    fields: header.fields,
    xyz,
  };
  return { positions, origin: base };
}

export async function getField(of: FrameOf, name: string): Promise<Field> {
  const { header, buffer, offset } = await getPacket(`${of.run}/field?name=${name}&${query(of)}`);
  return { name, low: header.low, high: header.high, values: new Float32Array(buffer, offset) };
}

export function getPicked(of: FrameOf, cell: number, point: number): Promise<Picked> {
  return getJson(`${of.run}/pick.json?cell=${cell}&point=${point}&${query(of)}`);
}
