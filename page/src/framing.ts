// From where one sees a scene well: what is in the picture, the directions to try, and the distance.
import * as THREE from 'three';
import type { HalfSpace, Vec3 } from './api';
import type { Shown } from './run';

/** All that is simulated, obstacles of about its size, and the ground below it. `more`: positions at other times that should be
    in the picture, too; `origin`: the world's coordinates of the scene's zero. */
export function framedBox({ topology, positions }: Shown, more: Float32Array[], origin: Vec3): THREE.Box3 {
  const fixed = topology.bodies.map((body) => body.kind === 'obstacle' || body.kind === 'half_space');
  const absent = new Set(positions.absent);
  const boxes = topology.bodies.map(() => new THREE.Box3());
  const x = new THREE.Vector3();
  for (const xyz of [positions.xyz, ...more])
    for (let p = 0; p < topology.body.length; ++p)
      if (!absent.has(topology.body[p])) boxes[topology.body[p]].expandByPoint(x.fromArray(xyz, 3 * p));
  const box = new THREE.Box3();
  const all = new THREE.Box3();
  boxes.forEach((other, b) => {
    if (other.isEmpty()) return;
    all.union(other);
    if (!fixed[b]) box.union(other);
  });
  if (box.isEmpty()) box.copy(all);
  if (box.isEmpty()) box.set(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));
  const size = box.getSize(new THREE.Vector3()).length();
  boxes.forEach((other) => {
    if (!other.isEmpty() && other.getSize(new THREE.Vector3()).length() <= 2.5 * size) box.union(other);
  });
  for (const plane of positions.halfSpaces) {
    const normal = new THREE.Vector3(...plane.normal);
    const foot = new THREE.Vector3(...plane.origin).sub(new THREE.Vector3(...origin));
    const centre = box.getCenter(new THREE.Vector3());
    const height = normal.dot(centre.clone().sub(foot));
    if (height < size) box.expandByPoint(centre.addScaledVector(normal, -height));
  }
  return box;
}

/** Whether all that is simulated is planar. */
export function isPlanar(bodies: { kind: string }[]): boolean {
  const simulated = bodies.filter((body) => body.kind !== 'obstacle' && body.kind !== 'half_space');
  return simulated.length > 0 && simulated.every((body) => body.kind.endsWith('planar'));
}

/** Which way is up, and three-quarter views from above, each steeper than the one before, from which every half-space is seen
    from outside if that is possible. If all that is simulated is planar: from the front, and where there is a ground from a
    little above. */
export function viewDirections(halfSpaces: HalfSpace[], planar = false): { up: THREE.Vector3; directions: THREE.Vector3[] } {
  const up = new THREE.Vector3(0, 1, 0);
  if (halfSpaces.length > 0) {
    const normal = halfSpaces[0].normal;
    const n = normal.map(Math.abs);
    const axis = n[1] >= n[0] - 1e-9 && n[1] >= n[2] - 1e-9 ? 1 : n[0] > n[2] ? 0 : 2;
    up.set(0, 0, 0).setComponent(axis, Math.sign(normal[axis]));
  }
  const axis = Math.abs(up.x) > 0.5 ? 0 : Math.abs(up.y) > 0.5 ? 1 : 2;
  const front = new THREE.Vector3().setComponent((axis + 1) % 3, 1);
  const side = up.clone().cross(front);
  const direction = (azimuth: number, elevation: number) => {
    const [a, e] = [(azimuth * Math.PI) / 180, (elevation * Math.PI) / 180];
    return front
      .clone()
      .multiplyScalar(Math.cos(a) * Math.cos(e))
      .addScaledVector(side, Math.sin(a) * Math.cos(e))
      .addScaledVector(up, Math.sin(e));
  };
  if (planar) return { up, directions: [direction(0, halfSpaces.length > 0 ? 10 : 0)] };
  const outside = (d: THREE.Vector3) => halfSpaces.every((plane) => new THREE.Vector3(...plane.normal).dot(d) > 0.15);
  const azimuth = [30, -30, 150, -150, 75, -75, 105, -105].find((candidate) => outside(direction(candidate, 24))) ?? 30;
  return { up, directions: [24, 36, 48].map((elevation) => direction(azimuth, elevation)) };
}

/** How far from its middle one must be to see the whole box, with a margin. `d`: from the box to the eye; `fov` [degrees]. */
export function viewDistance(box: THREE.Box3, view: { d: THREE.Vector3; up: THREE.Vector3; fov: number; aspect: number }): number {
  const right = view.up.clone().cross(view.d).normalize();
  const above = view.d.clone().cross(right);
  const middle = box.getCenter(new THREE.Vector3());
  const tan = Math.tan((view.fov * Math.PI) / 360) * 0.86;
  let distance = 0;
  for (let k = 0; k < 8; ++k) {
    const corner = new THREE.Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z).sub(middle);
    const depth = corner.dot(view.d);
    distance = Math.max(distance, depth + Math.abs(corner.dot(right)) / (tan * view.aspect), depth + Math.abs(corner.dot(above)) / tan);
  }
  return distance;
}

export function boxOf(xyz: Float32Array): THREE.Box3 {
  const box = new THREE.Box3();
  const x = new THREE.Vector3();
  for (let i = 0; i < xyz.length; i += 3) box.expandByPoint(x.fromArray(xyz, i));
  return box;
}
