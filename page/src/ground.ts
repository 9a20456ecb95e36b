// Half-spaces as discs with a grid.
import * as THREE from 'three';
import type { HalfSpace, Vec3 } from './api';

export const background = 0xe8ecf1;
export type Ground = THREE.Mesh<THREE.BufferGeometry, THREE.ShaderMaterial>;

/** 1, 2 or 5 times a power of ten, at most the given length. */
function roundLength(wanted: number): number {
  const decade = 10 ** Math.floor(Math.log10(wanted));
  const factor = wanted / decade;
  return decade * (factor < 2 ? 1 : factor < 5 ? 2 : 5);
}

/** A disc of radius 1 in the plane z = 0 with a grid on it, fading away from its middle. Seen from outside only: who looks
    from below looks through. Few operations, and nothing blended: it fills the picture. */
export function makeGround(): Ground {
  const material = new THREE.ShaderMaterial({
    lights: true,
    uniforms: THREE.UniformsUtils.merge([
      THREE.UniformsLib.lights,
      { scale: { value: 1 }, shift: { value: new THREE.Vector2() }, far: { value: new THREE.Color().setHex(background, THREE.LinearSRGBColorSpace) } },
    ]),
    vertexShader: `
      #include <common>
      #include <shadowmap_pars_vertex>
      uniform float scale;
      uniform vec2 shift;
      varying vec2 cell;
      varying vec2 around;
      void main() {
        vec3 transformedNormal = normalMatrix * vec3(0.0, 0.0, 1.0);
        vec4 worldPosition = modelMatrix * vec4(position, 1.0);
        around = position.xy;
        cell = position.xy * scale + shift;
        #include <shadowmap_vertex>
        gl_Position = projectionMatrix * viewMatrix * worldPosition;
      }`,
    fragmentShader: `
      #include <common>
      #include <packing>
      #include <lights_pars_begin>
      #include <shadowmap_pars_fragment>
      #include <shadowmask_pars_fragment>
      uniform vec3 far;
      varying vec2 cell;
      varying vec2 around;
      void main() {
        vec2 width = fwidth(cell);
        vec2 line = clamp(1.4 - abs(fract(cell - 0.5) - 0.5) / width, 0.0, 1.0);
        float lines = 0.12 * max(line.x, line.y) * clamp(1.4 - 2.8 * max(width.x, width.y), 0.0, 1.0);
        vec3 colour = (vec3(0.838, 0.843, 0.848) - lines) * (0.8 + 0.2 * getShadowMask());
        float away = dot(around, around);
        gl_FragColor = vec4(mix(colour, far, clamp(1.25 * away - 0.1, 0.0, 1.0)), 1.0);
      }`,
    polygonOffset: true,
    polygonOffsetFactor: 2,
    polygonOffsetUnits: 4,
  });
  const mesh = new THREE.Mesh(new THREE.CircleGeometry(1, 48), material);
  mesh.receiveShadow = true;
  mesh.renderOrder = 1; // behind most of the rest, which then need not be drawn over
  return mesh;
}

/** Below what one looks at, so that the grid fades out all around it. `origin`: the world's coordinates of the scene's zero;
    `size`: of the scene [m]. */
export function placeGround(mesh: Ground, plane: HalfSpace, view: { origin: Vec3; target: THREE.Vector3; size: number }) {
  const normal = new THREE.Vector3(...plane.normal);
  const world = new THREE.Vector3(...view.origin);
  const origin = new THREE.Vector3(...plane.origin).sub(world);
  const foot = view.target.clone().addScaledVector(normal, -normal.dot(view.target.clone().sub(origin)));
  const radius = 5 * view.size;
  const grid = roundLength(view.size / 6);
  mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
  mesh.position.copy(foot);
  mesh.scale.setScalar(radius);
  mesh.userData.body = plane.body;
  // Lines stand at multiples of a round length in the world.
  const local = foot.add(world).applyQuaternion(mesh.quaternion.clone().invert());
  mesh.material.uniforms.scale.value = radius / grid;
  mesh.material.uniforms.shift.value.set((local.x / grid) % 1, (local.y / grid) % 1);
}
