// What a ray hits first, among what is visible.
import type { Surface } from './surface';
import type { Topology } from './api';

export interface Ray {
  origin: [number, number, number];
  direction: [number, number, number]; // unit
}

export interface Hit {
  distance: number;
  cell: number; // of the frame
  point: number; // of the topology: the corner nearest to the hit
  at: [number, number, number];
}

/** `visible`: whether each body is drawn; `radius`: of each body's rods and particles. */
export function pick(
  ray: Ray,
  surface: Surface,
  topology: Topology,
  xyz: Float32Array,
  visible: boolean[],
  radius: number[],
): Hit | null {
  const [ox, oy, oz] = ray.origin;
  const [dx, dy, dz] = ray.direction;
  let best = Infinity;
  let cell = -1;
  let candidates: ArrayLike<number> = [];

  const { index, position, triangleOf } = surface;
  for (let i = 0; i < index.length; i += 3) {
    const t = triangleOf[i / 3];
    if (!visible[topology.body[topology.triangles[3 * t]]]) continue;
    const a = 3 * index[i], b = 3 * index[i + 1], c = 3 * index[i + 2];
    const ux = position[b] - position[a], uy = position[b + 1] - position[a + 1], uz = position[b + 2] - position[a + 2];
    const vx = position[c] - position[a], vy = position[c + 1] - position[a + 1], vz = position[c + 2] - position[a + 2];
    const px = dy * vz - dz * vy, py = dz * vx - dx * vz, pz = dx * vy - dy * vx;
    const det = ux * px + uy * py + uz * pz;
    if (det === 0) continue;
    const sx = ox - position[a], sy = oy - position[a + 1], sz = oz - position[a + 2];
    const u = (sx * px + sy * py + sz * pz) / det;
    if (u < 0 || u > 1) continue;
    const qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
    const v = (dx * qx + dy * qy + dz * qz) / det;
    if (v < 0 || u + v > 1) continue;
    const d = (vx * qx + vy * qy + vz * qz) / det;
    if (d <= 0 || d >= best) continue;
    best = d;
    cell = topology.triangleCell[t];
    candidates = topology.triangles.subarray(3 * t, 3 * t + 3);
  }

  /** A ball about the point (x, y, z); `take` if it is the nearest so far. */
  const ball = (x: number, y: number, z: number, r: number, take: () => void) => {
    const along = (x - ox) * dx + (y - oy) * dy + (z - oz) * dz;
    const ex = ox + along * dx - x, ey = oy + along * dy - y, ez = oz + along * dz - z;
    const rest = r * r - (ex * ex + ey * ey + ez * ez);
    if (rest < 0) return;
    const d = along - Math.sqrt(rest);
    if (d <= 0 || d >= best) return;
    best = d;
    take();
  };
  for (let i = 0; i < topology.balls.length; ++i) {
    const p = topology.balls[i];
    if (!visible[topology.body[p]]) continue;
    ball(xyz[3 * p], xyz[3 * p + 1], xyz[3 * p + 2], radius[topology.body[p]], () => {
      cell = topology.firstBallCell + i;
      candidates = [p];
    });
  }
  for (let i = 0; i < topology.segments.length; i += 2) {
    const p = topology.segments[i], q = topology.segments[i + 1];
    if (!visible[topology.body[p]]) continue;
    // The point of the segment nearest to the ray, and a ball there: exact enough for a pointer.
    const ex = xyz[3 * q] - xyz[3 * p], ey = xyz[3 * q + 1] - xyz[3 * p + 1], ez = xyz[3 * q + 2] - xyz[3 * p + 2];
    const wx = xyz[3 * p] - ox, wy = xyz[3 * p + 1] - oy, wz = xyz[3 * p + 2] - oz;
    const ee = ex * ex + ey * ey + ez * ez;
    const ed = ex * dx + ey * dy + ez * dz;
    const ew = ex * wx + ey * wy + ez * wz;
    const dw = dx * wx + dy * wy + dz * wz;
    const denominator = ee - ed * ed;
    const s = denominator > 1e-12 * ee ? Math.min(1, Math.max(0, (ed * dw - ew) / denominator)) : 0;
    ball(xyz[3 * p] + s * ex, xyz[3 * p + 1] + s * ey, xyz[3 * p + 2] + s * ez, radius[topology.body[p]], () => {
      cell = topology.firstSegmentCell + i / 2;
      candidates = [p, q];
    });
  }
  if (cell < 0) return null;

  const at: [number, number, number] = [ox + best * dx, oy + best * dy, oz + best * dz];
  let point = candidates[0];
  let nearest = Infinity;
  for (let k = 0; k < candidates.length; ++k) {
    const p = candidates[k];
    const d = (xyz[3 * p] - at[0]) ** 2 + (xyz[3 * p + 1] - at[1]) ** 2 + (xyz[3 * p + 2] - at[2]) ** 2;
    if (d < nearest) {
      nearest = d;
      point = p;
    }
  }
  return { distance: best, cell, point, at };
}
