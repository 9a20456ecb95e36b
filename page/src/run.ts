import { Columns, Field, getField, getJson, getPositions, getTopology, Positions, RunState, ServerError, ShownSurface, Topology, Vec3 } from './api';

/** Keeps the values used last, up to a number of bytes in all. */
export class Cache<Value> {
  private entries = new Map<string, { value: Value; bytes: number }>();
  bytes = 0;
  constructor(readonly limit: number) {}

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key); // a Map lists its keys in the order they came
    this.entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Value, bytes: number) {
    this.delete(key);
    this.entries.set(key, { value, bytes });
    this.bytes += bytes;
    for (const [oldest, entry] of this.entries) {
      if (this.bytes <= this.limit || this.entries.size === 1) break;
      this.entries.delete(oldest);
      this.bytes -= entry.bytes;
    }
  }

  delete(key: string) {
    const entry = this.entries.get(key);
    if (entry) this.bytes -= entry.bytes;
    this.entries.delete(key);
  }

  clear() {
    this.entries.clear();
    this.bytes = 0;
  }
}

/** Everything of one frame that a view may need. */
export interface Shown {
  frame: number;
  positions: Positions;
  topology: Topology;
  field: Field | null;
  contacts: Field | null;
}

/** What is wanted of each frame. */
export interface Wanted {
  field: string | null;
  contacts: boolean;
}

function append(columns: Columns, more: Columns) {
  for (const [name, values] of Object.entries(more)) {
    const column = (columns[name] ??= []);
    for (const value of values) column.push(value);
  }
}

const cacheBytes = 400e6; // all runs together
const parallelRequests = 4; // of each run; the browser allows six in all

/** One run: what is known of it, and its frames as far as they are loaded. */
export class Run {
  name = '';
  state: RunState | null = null;
  times: number[] = [];
  columns: Columns = {};
  probes: Columns = {};
  probeOrder: string[] = []; // names of the columns, as the scene has them
  problem = ''; // why the state could not be asked for
  readonly bad = new Map<number, string>(); // frames that cannot be shown, and why
  private badSince = new Map<number, number>();
  private cache: Cache<Positions | Field>;
  private pending = new Map<string, Promise<void>>();
  private topologies = new Map<string, Topology>();
  private stepCount = 0;
  private probeCount = 0;
  private generation = 0; // what was asked for in an earlier one is not kept
  private shownSurface: ShownSurface = 'shape';

  constructor(
    readonly number: number,
    runs: number,
    private shared: { origin: Vec3 | null },
  ) {
    this.cache = new Cache(cacheBytes / runs);
  }

  get surface() {
    return this.shownSurface;
  }

  /** Frames that are here are of another surface: they are asked for again. */
  set surface(surface: ShownSurface) {
    if (surface === this.shownSurface) return;
    this.shownSurface = surface;
    ++this.generation;
    this.forgetFrames();
  }

  /** A frame as the server is asked for it. */
  of(frame: number) {
    return { run: this.number, frame, surface: this.shownSurface };
  }

  private forgetFrames() {
    this.cache.clear();
    this.pending.clear();
    this.topologies.clear();
    this.bad.clear();
    this.badSince.clear();
  }

  get live() {
    return this.state?.status === 'running' || this.state?.status === 'starting';
  }

  /** Asks what is new. Returns whether anything is. */
  async refresh(): Promise<boolean> {
    let state: RunState;
    try {
      state = await getJson<RunState>(`${this.number}/state.json?frame=${this.times.length}&step=${this.stepCount}&probe=${this.probeCount}`);
    } catch (error) {
      const changed = this.problem !== (error as Error).message;
      this.problem = (error as Error).message;
      return changed;
    }
    const old = this.state;
    const again =
      old !== null &&
      (state.generation !== old.generation ||
        state.frames.before !== old.frames.stamp ||
        state.frames.count < this.times.length ||
        state.steps.count < this.stepCount ||
        state.probes.count < this.probeCount);
    if (again) {
      // Started anew, or frames that are here were written again: forget everything.
      ++this.generation;
      this.times = [];
      this.columns = {};
      this.probes = {};
      this.probeOrder = [];
      this.stepCount = this.probeCount = 0;
      this.forgetFrames();
      this.state = null;
      await this.refresh();
      return true;
    }
    this.name = state.name;
    const had = this.problem;
    this.problem = state.problem ?? '';
    for (const time of state.frames.times) this.times.push(time);
    append(this.columns, state.steps.columns);
    append(this.probes, state.probes.columns);
    this.probeOrder = state.probes.order;
    const changed =
      !old ||
      had !== this.problem ||
      old.status !== state.status ||
      state.frames.times.length > 0 ||
      state.steps.count > this.stepCount ||
      state.probes.count > this.probeCount;
    this.stepCount = state.steps.count;
    this.probeCount = state.probes.count;
    this.state = state;
    return changed;
  }

  /** The last frame at or before a time; −1 if there is none. */
  frameAt(time: number): number {
    let low = 0;
    let high = this.times.length;
    const slack = 1e-9 * Math.abs(time) + 1e-12;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time + slack) low = middle + 1;
      else high = middle;
    }
    return Math.max(low - 1, this.times.length > 0 ? 0 : -1);
  }

  /** The frame if all that is wanted of it is here. */
  ready(frame: number, wanted: Wanted): Shown | null {
    const positions = this.cache.get(`positions/${frame}`) as Positions | undefined;
    const topology = positions && this.topologies.get(positions.key);
    if (!positions || !topology) return null;
    const has = (name: string) => positions.fields.some((kind) => kind.name === name);
    const part = (name: string) => (this.cache.get(`${name}/${frame}`) as Field | undefined) ?? null;
    const field = wanted.field && has(wanted.field) ? part(wanted.field) : null;
    if (wanted.field && has(wanted.field) && !field) return null;
    const contacts = wanted.contacts && has('contact_force') ? part('contact_vectors') : null;
    if (wanted.contacts && has('contact_force') && !contacts) return null;
    return { frame, positions, topology, field, contacts };
  }

  isBad(frame: number) {
    return this.bad.has(frame);
  }

  get loadedBytes() {
    return this.cache.bytes;
  }

  /** How many frames can be held before the first is dropped again. */
  get roomFor(): number {
    const one = this.topologies.values().next().value;
    return one ? Math.max(2, Math.floor(this.cache.limit / (16 * one.points.length + 1000)) - 2) : 2;
  }

  get busy() {
    return this.pending.size >= parallelRequests;
  }

  /** Starts to load what is missing of a frame. Resolves when that is here, or is known not to come. */
  request(frame: number, wanted: Wanted): Promise<void> {
    const since = this.badSince.get(frame);
    // A damaged frame may be written again while the run lives; ask from time to time, not all the time.
    if (since !== undefined && performance.now() - since < 2000) return Promise.resolve();
    const key = `${frame}/${wanted.field}/${wanted.contacts}`;
    let loading = this.pending.get(key);
    if (!loading) {
      const started: Promise<void> = this.load(frame, wanted).finally(() => {
        if (this.pending.get(key) === started) this.pending.delete(key);
      });
      loading = started;
      this.pending.set(key, loading);
    }
    return loading;
  }

  private async load(frame: number, wanted: Wanted) {
    const { generation } = this;
    const outdated = () => generation !== this.generation;
    try {
      let positions = this.cache.get(`positions/${frame}`) as Positions | undefined;
      if (!positions) {
        const got = await getPositions(this.of(frame), this.shared.origin);
        // The first frame of all fixes the origin; one that was decoded relative to another is asked for again.
        if (this.shared.origin && got.origin !== this.shared.origin)
          got.positions = (await getPositions(this.of(frame), this.shared.origin)).positions;
        this.shared.origin ??= got.origin;
        if (outdated()) return;
        positions = got.positions;
        this.cache.set(`positions/${frame}`, positions, positions.xyz.byteLength);
      }
      if (!this.topologies.has(positions.key)) {
        const topology = await getTopology(this.of(frame));
        if (outdated()) return;
        if (this.topologies.size >= 4) this.topologies.clear();
        this.topologies.set(topology.key, topology);
      }
      const fields: string[] = [];
      if (wanted.field && positions.fields.some((kind) => kind.name === wanted.field)) fields.push(wanted.field);
      if (wanted.contacts && positions.fields.some((kind) => kind.name === 'contact_force')) fields.push('contact_vectors');
      for (const name of fields)
        if (!this.cache.get(`${name}/${frame}`)) {
          const field = await getField(this.of(frame), name);
          if (outdated()) return;
          this.cache.set(`${name}/${frame}`, field, field.values.byteLength);
        }
      this.bad.delete(frame);
      this.badSince.delete(frame);
    } catch (error) {
      if (outdated()) return;
      if (!(error instanceof ServerError)) console.error(error);
      this.bad.set(frame, (error as Error).message);
      this.badSince.set(frame, performance.now());
    }
  }
}
