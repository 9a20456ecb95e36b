// Triangles as the graphics card wants them: points doubled at creases so that boxes have edges and balls have none, and
// shells given two sides and a rim.
import type { Topology } from './api';

const creaseCosine = Math.cos((55 * Math.PI) / 180);

export class Surface {
  readonly index: Uint32Array; // three vertices for each drawn triangle
  readonly triangleOf: Uint32Array; // drawn triangle → triangle of the topology
  readonly vertexPoint: Uint32Array; // vertex → point of the topology
  readonly edges: Uint32Array; // two vertices for each edge, once
  readonly position: Float32Array;
  readonly normal: Float32Array;
  private offset: Float32Array | null = null; // along the vertex' own normal [m]; null: nothing is a shell
  private rimFirst = 0; // first drawn triangle of the rims
  private rimTwin: Uint32Array = new Uint32Array(0); // rim vertex → the vertex at whose place it is
  private rimVertexFirst = 0;

  constructor(
    readonly topology: Topology,
    xyz: Float32Array,
  ) {
    const { triangles, body, bodies, triangleCell } = topology;
    const count = triangles.length / 3;
    const normals = faceNormals(triangles, xyz);

    // Which corners share a vertex: those joined by edges that are no crease.
    const parent = new Uint32Array(3 * count);
    for (let i = 0; i < parent.length; ++i) parent[i] = i;
    const root = (i: number) => {
      while (parent[i] !== i) i = parent[i] = parent[parent[i]];
      return i;
    };
    const join = (a: number, b: number) => {
      const [x, y] = [root(a), root(b)];
      if (x < y) parent[y] = x;
      else parent[x] = y;
    };
    const pointCount = topology.points.length;
    const seen = new Map<number, number>(); // edge → corner it starts at; −1: more than two triangles
    const edgeCorners: number[] = [];
    const openEdges: number[] = [];
    for (let corner = 0; corner < 3 * count; ++corner) {
      const next = corner % 3 === 2 ? corner - 2 : corner + 1;
      const a = triangles[corner];
      const b = triangles[next];
      const key = a < b ? a * pointCount + b : b * pointCount + a;
      const other = seen.get(key);
      if (other === undefined) {
        seen.set(key, corner);
        edgeCorners.push(corner, next);
        continue;
      }
      if (other < 0) continue;
      seen.set(key, -1);
      const s = (corner / 3) | 0;
      const t = (other / 3) | 0;
      const cosine =
        normals[3 * s] * normals[3 * t] + normals[3 * s + 1] * normals[3 * t + 1] + normals[3 * s + 2] * normals[3 * t + 2];
      if (cosine < creaseCosine) continue;
      const otherNext = other % 3 === 2 ? other - 2 : other + 1;
      if (triangles[other] === b) {
        join(corner, otherNext);
        join(next, other);
      } else {
        join(corner, other);
        join(next, otherNext);
      }
    }
    for (const corner of seen.values()) if (corner >= 0) openEdges.push(corner);

    const vertexPoint: number[] = [];
    const vertexOf = new Uint32Array(3 * count); // corner → vertex
    for (let corner = 0; corner < 3 * count; ++corner) {
      const r = root(corner);
      if (r === corner) {
        vertexOf[corner] = vertexPoint.length;
        vertexPoint.push(triangles[corner]);
      } else {
        vertexOf[corner] = vertexOf[r]; // the root comes first
      }
    }
    const index: number[] = Array.from(vertexOf);
    const triangleOf: number[] = [];
    for (let t = 0; t < count; ++t) triangleOf.push(t);
    this.edges = Uint32Array.from(edgeCorners, (corner) => vertexOf[corner]);

    // Shells: every vertex goes half the thickness along its normal; a second one, whose triangles are turned over, the
    // other way. Open edges get a rim.
    const half = (t: number) =>
      triangleCell[t] >= topology.firstFaceCell ? 0.5 * (bodies[body[triangles[3 * t]]].thickness ?? 0) : 0;
    const offset: number[] = new Array(vertexPoint.length).fill(0);
    const back = new Map<number, number>(); // vertex in front → vertex at the back
    for (let t = 0; t < count; ++t) {
      const h = half(t);
      if (!(h > 0)) continue;
      for (const k of [0, 2, 1]) {
        const v = vertexOf[3 * t + k];
        let w = back.get(v);
        if (w === undefined) {
          w = vertexPoint.length;
          back.set(v, w);
          vertexPoint.push(vertexPoint[v]);
          offset[v] = h;
          offset[w] = h;
        }
        index.push(w);
      }
      triangleOf.push(t);
    }
    this.rimFirst = index.length / 3;
    this.rimVertexFirst = vertexPoint.length;
    if (back.size > 0) {
      const twin: number[] = [];
      for (const corner of openEdges) {
        const t = (corner / 3) | 0;
        if (!(half(t) > 0)) continue;
        const next = corner % 3 === 2 ? corner - 2 : corner + 1;
        const [a, b] = [vertexOf[corner], vertexOf[next]];
        const first = vertexPoint.length;
        for (const v of [a, b, back.get(b)!, back.get(a)!]) {
          twin.push(v);
          vertexPoint.push(vertexPoint[v]);
        }
        index.push(first, first + 3, first + 1, first + 1, first + 3, first + 2);
        triangleOf.push(t, t);
      }
      this.rimTwin = Uint32Array.from(twin);
      this.offset = Float32Array.from({ length: vertexPoint.length }, (_, v) => offset[v] ?? 0);
    }
    this.index = Uint32Array.from(index);
    this.triangleOf = Uint32Array.from(triangleOf);
    this.vertexPoint = Uint32Array.from(vertexPoint);
    this.position = new Float32Array(3 * vertexPoint.length);
    this.normal = new Float32Array(3 * vertexPoint.length);
    this.update(xyz);
  }

  /** Moves the vertices to where the points are. */
  update(xyz: Float32Array) {
    const { position, normal, vertexPoint, index, offset } = this;
    for (let v = 0, n = vertexPoint.length; v < n; ++v) {
      const p = 3 * vertexPoint[v];
      position[3 * v] = xyz[p];
      position[3 * v + 1] = xyz[p + 1];
      position[3 * v + 2] = xyz[p + 2];
    }
    normal.fill(0);
    addNormals(index, 0, 3 * this.rimFirst, position, normal);
    normalise(normal, 0, 3 * this.rimVertexFirst);
    if (!offset) return;
    for (let v = 0; v < this.rimVertexFirst; ++v)
      for (let k = 3 * v; k < 3 * v + 3; ++k) position[k] += offset[v] * normal[k];
    for (let i = 0; i < this.rimTwin.length; ++i)
      for (let k = 0; k < 3; ++k) position[3 * (this.rimVertexFirst + i) + k] = position[3 * this.rimTwin[i] + k];
    addNormals(index, 3 * this.rimFirst, index.length, position, normal);
    normalise(normal, 3 * this.rimVertexFirst, normal.length);
  }
}

function faceNormals(triangles: Int32Array, xyz: Float32Array): Float32Array {
  const normals = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
    const ux = xyz[b] - xyz[a], uy = xyz[b + 1] - xyz[a + 1], uz = xyz[b + 2] - xyz[a + 2];
    const vx = xyz[c] - xyz[a], vy = xyz[c + 1] - xyz[a + 1], vz = xyz[c + 2] - xyz[a + 2];
    normals[t] = uy * vz - uz * vy;
    normals[t + 1] = uz * vx - ux * vz;
    normals[t + 2] = ux * vy - uy * vx;
  }
  normalise(normals, 0, normals.length);
  return normals;
}

function addNormals(index: Uint32Array, begin: number, end: number, x: Float32Array, normal: Float32Array) {
  for (let i = begin; i < end; i += 3) {
    const a = 3 * index[i], b = 3 * index[i + 1], c = 3 * index[i + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx; // twice the area: large faces count more
    normal[a] += nx, (normal[a + 1] += ny), (normal[a + 2] += nz);
    normal[b] += nx, (normal[b + 1] += ny), (normal[b + 2] += nz);
    normal[c] += nx, (normal[c + 1] += ny), (normal[c + 2] += nz);
  }
}

function normalise(n: Float32Array, begin: number, end: number) {
  for (let i = begin; i < end; i += 3) {
    const length = Math.sqrt(n[i] * n[i] + n[i + 1] * n[i + 1] + n[i + 2] * n[i + 2]);
    if (!(length > 0)) continue;
    const scale = 1 / length;
    n[i] *= scale;
    n[i + 1] *= scale;
    n[i + 2] *= scale;
  }
}
