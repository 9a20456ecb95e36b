// The picture of one run.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Vec3 } from './api';
import { ColourMap, fraction, linearOf, Range } from './colours';
import { boxOf, framedBox, isPlanar, viewDirections, viewDistance } from './framing';
import { background, Ground, makeGround, placeGround } from './ground';
import type { Pose } from './link';
import { makeLeanMaterial } from './materials';
import { Hit, pick } from './pick';
import type { Shown } from './run';
import { Surface } from './surface';

export type SurfaceStyle = 'solid' | 'edges' | 'wireframe' | 'glass';

export interface Display {
  style: SurfaceStyle;
  range: Range | null; // of the field; null: bodies in their colours
  ground: boolean;
  shadows: boolean;
  forceScale: number; // [m/√N]
}

/** What is set for each body. */
export interface BodySettings {
  visible: boolean;
  colour: number;
}

export class View {
  readonly canvas: HTMLCanvasElement;
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(30, 1, 0.01, 100);
  controls: OrbitControls | null = null;
  shown: Shown | null = null;
  dirty = true;
  onCamera: () => void = () => {};

  private scene = new THREE.Scene();
  private lamp = new THREE.DirectionalLight(0xfff6e8, 2.1);
  private sky = new THREE.HemisphereLight(0xf4f8ff, 0x8c8880, 1.7);
  private material = new THREE.MeshLambertMaterial({
    vertexColors: true,
    side: THREE.DoubleSide,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
  });
  private leanMaterial = makeLeanMaterial();
  private edgeMaterial = new THREE.LineBasicMaterial({ color: 0x1d2733, transparent: true, opacity: 0.45 });
  private forceMaterial = new THREE.LineBasicMaterial({ color: 0xd40f3c, depthTest: false, transparent: true, opacity: 0.85 });
  private surface: Surface | null = null;
  private geometry = new THREE.BufferGeometry();
  private edgeGeometry = new THREE.BufferGeometry();
  private forceGeometry = new THREE.BufferGeometry();
  private mesh = new THREE.Mesh<THREE.BufferGeometry, THREE.Material>(this.geometry, this.material);
  private edges = new THREE.LineSegments(this.edgeGeometry, this.edgeMaterial);
  private forces = new THREE.LineSegments(this.forceGeometry, this.forceMaterial);
  private marker = new THREE.Mesh(
    new THREE.SphereGeometry(1, 16, 12),
    new THREE.MeshBasicMaterial({ color: 0x111111, depthTest: false, transparent: true, opacity: 0.8 }),
  );
  private marked: number | null = null; // point of the topology
  private grounds = new THREE.Group();
  private tubes: THREE.InstancedMesh | null = null;
  private balls: THREE.InstancedMesh | null = null;
  private ballPoints: Int32Array = new Int32Array(0);
  private visibleKey = '';
  private visible: boolean[] = [];
  private radius: number[] = [];
  private up = new THREE.Vector3(0, 1, 0);
  private size = 1; // of the scene [m]
  private target = new THREE.Vector3();
  readonly software: boolean;

  constructor(
    private holder: HTMLElement,
    private map: ColourMap,
  ) {
    this.canvas = document.createElement('canvas');
    holder.append(this.canvas);
    // Smooth edges cost much where no graphics card helps.
    const probe = document.createElement('canvas').getContext('webgl2');
    const info = probe?.getExtension('WEBGL_debug_renderer_info');
    const name = info ? String(probe!.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
    probe?.getExtension('WEBGL_lose_context')?.loseContext();
    this.software = /swiftshader|llvmpipe|software/i.test(name);
    this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: !this.software, powerPreference: 'high-performance' });
    this.renderer.setPixelRatio(this.software ? 1 : Math.min(2, devicePixelRatio));
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.scene.background = new THREE.Color(background);
    this.mesh.frustumCulled = this.edges.frustumCulled = this.forces.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.forces.renderOrder = 2;
    this.marker.renderOrder = 3;
    this.marker.visible = false;
    this.lamp.castShadow = true;
    this.lamp.shadow.mapSize.set(2048, 2048);
    this.lamp.shadow.bias = -0.0005;
    this.scene.add(this.sky, this.lamp, this.lamp.target, this.mesh, this.edges, this.forces, this.grounds, this.marker);
    new ResizeObserver(() => this.resize()).observe(holder);
    this.resize();
  }

  private resize() {
    const width = Math.max(1, this.holder.clientWidth);
    const height = Math.max(1, this.holder.clientHeight);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  /** Shows a frame. Everything that costs is done only if it changed. */
  show(shown: Shown, bodies: BodySettings[], display: Display) {
    const fresh = this.shown?.topology !== shown.topology;
    const moved = this.shown?.positions !== shown.positions;
    if (fresh) this.build(shown);
    this.shown = shown;
    if (moved || fresh) {
      if (!fresh) this.surface!.update(shown.positions.xyz);
      this.geometry.attributes.position.needsUpdate = true;
      this.geometry.attributes.normal.needsUpdate = true;
      this.updateGrounds(shown);
      this.updateInstances(shown);
    }
    this.updateVisible(shown, bodies, display);
    this.paint(shown, bodies, display);
    this.updateForces(shown, display);
    this.applyStyle(display);
    if (this.marked !== null && moved) this.mark(this.marked);
    this.dirty = true;
  }

  private build(shown: Shown) {
    const { topology, positions } = shown;
    this.surface = new Surface(topology, positions.xyz);
    this.geometry.dispose();
    this.edgeGeometry.dispose();
    this.geometry = new THREE.BufferGeometry();
    this.edgeGeometry = new THREE.BufferGeometry();
    const dynamic = (array: Float32Array) => new THREE.BufferAttribute(array, 3).setUsage(THREE.DynamicDrawUsage);
    const position = dynamic(this.surface.position);
    this.geometry.setAttribute('position', position);
    this.geometry.setAttribute('normal', dynamic(this.surface.normal));
    this.geometry.setAttribute('color', dynamic(new Float32Array(this.surface.position.length)));
    this.edgeGeometry.setAttribute('position', position);
    this.mesh.geometry = this.geometry;
    this.edges.geometry = this.edgeGeometry;
    this.visibleKey = this.paintKey = '';
    this.marked = null;
    this.marker.visible = false;
    const box = boxOf(positions.xyz);
    const size = Math.max(1e-9, box.getSize(new THREE.Vector3()).length());
    this.radius = topology.bodies.map((body) => body.radius ?? 0.0008 * size);

    for (const old of [this.tubes, this.balls])
      if (old) {
        this.scene.remove(old);
        old.dispose();
      }
    this.tubes = this.balls = null;
    const plain = new THREE.MeshLambertMaterial();
    const segments = topology.segments.length / 2;
    if (segments > 0) {
      this.tubes = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 10, 1, true), plain, segments);
      this.scene.add(this.tubes);
    }
    // Balls stand for particles, and round off the joints of rods.
    this.ballPoints = Int32Array.from(new Set([...topology.balls, ...topology.segments]));
    if (this.ballPoints.length > 0) {
      this.balls = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 14, 10), plain, this.ballPoints.length);
      this.scene.add(this.balls);
    }
    for (const mesh of [this.tubes, this.balls])
      if (mesh) {
        mesh.frustumCulled = false;
        mesh.castShadow = mesh.receiveShadow = true;
        mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
        mesh.setColorAt(0, new THREE.Color(1, 1, 1));
      }
  }

  private updateGrounds(shown: Shown) {
    const planes = shown.positions.halfSpaces;
    while (this.grounds.children.length > planes.length) this.grounds.remove(this.grounds.children.at(-1)!);
    while (this.grounds.children.length < planes.length) this.grounds.add(makeGround());
    planes.forEach((plane, i) => placeGround(this.grounds.children[i] as Ground, plane, { origin: this.origin, target: this.target, size: this.size }));
  }

  /** The world's coordinates of the scene's zero [m]. */
  origin: Vec3 = [0, 0, 0];

  private updateInstances(shown: Shown) {
    const { topology, positions } = shown;
    const { xyz } = positions;
    const matrix = new THREE.Matrix4();
    const a = new THREE.Vector3();
    const b = new THREE.Vector3();
    const y = new THREE.Vector3(0, 1, 0);
    const q = new THREE.Quaternion();
    const hidden = new THREE.Matrix4().makeScale(0, 0, 0);
    const shows = (body: number) => this.visible[body] ?? true;
    if (this.tubes) {
      for (let i = 0; i < topology.segments.length; i += 2) {
        const body = topology.body[topology.segments[i]];
        a.fromArray(xyz, 3 * topology.segments[i]);
        b.fromArray(xyz, 3 * topology.segments[i + 1]);
        const length = a.distanceTo(b);
        const middle = a.clone().add(b).multiplyScalar(0.5);
        if (length > 0) q.setFromUnitVectors(y, b.sub(a).divideScalar(length));
        const r = this.radius[body];
        this.tubes.setMatrixAt(i / 2, shows(body) ? matrix.compose(middle, q, new THREE.Vector3(r, length, r)) : hidden);
      }
      this.tubes.instanceMatrix.needsUpdate = true;
    }
    if (this.balls) {
      this.ballPoints.forEach((p, i) => {
        const body = topology.body[p];
        const r = this.radius[body];
        matrix.makeScale(r, r, r).setPosition(xyz[3 * p], xyz[3 * p + 1], xyz[3 * p + 2]);
        this.balls!.setMatrixAt(i, shows(body) ? matrix : hidden);
      });
      this.balls.instanceMatrix.needsUpdate = true;
    }
  }

  private updateVisible(shown: Shown, bodies: BodySettings[], display: Display) {
    const { topology, positions } = shown;
    const absent = new Set(positions.absent);
    const visible = bodies.map((body, b) => body.visible && !absent.has(b));
    for (const ground of this.grounds.children) ground.visible = display.ground && visible[ground.userData.body];
    const key = visible.map(Number).join('');
    if (key === this.visibleKey) return;
    this.visibleKey = key;
    this.visible = visible;
    const surface = this.surface!;
    const shows = (triangle: number) => visible[topology.body[topology.triangles[3 * triangle]]];
    const index = new Uint32Array(surface.index.length);
    let n = 0;
    for (let t = 0; t < surface.triangleOf.length; ++t) {
      if (!shows(surface.triangleOf[t])) continue;
      index[n++] = surface.index[3 * t];
      index[n++] = surface.index[3 * t + 1];
      index[n++] = surface.index[3 * t + 2];
    }
    this.geometry.setIndex(new THREE.BufferAttribute(index.subarray(0, n), 1));
    const edges = new Uint32Array(surface.edges.length);
    n = 0;
    for (let e = 0; e < surface.edges.length; e += 2) {
      if (!visible[topology.body[surface.vertexPoint[surface.edges[e]]]]) continue;
      edges[n++] = surface.edges[e];
      edges[n++] = surface.edges[e + 1];
    }
    this.edgeGeometry.setIndex(new THREE.BufferAttribute(edges.subarray(0, n), 1));
    this.updateInstances(shown);
  }

  private paintKey = '';

  private paint(shown: Shown, bodies: BodySettings[], display: Display) {
    const { topology, field } = shown;
    const range = field ? display.range : null;
    const key = `${topology.key} ${range ? JSON.stringify(range) + shown.frame + field!.name : ''} ${bodies.map((b) => b.colour).join()}`;
    if (key === this.paintKey) return;
    this.paintKey = key;
    const own = bodies.map((body) => linearOf(body.colour));
    // Each point's colour, then that of its vertices.
    const table = this.map.table;
    const colours = new Float32Array(3 * topology.points.length);
    for (let p = 0; p < topology.points.length; ++p) {
      const body = topology.body[p];
      let colour: ArrayLike<number> = own[body];
      let at = 0;
      if (range) {
        const f = fraction(field!.values[p], range);
        if (Number.isNaN(f)) colour = this.map.noValue;
        else {
          colour = table;
          at = 3 * Math.round(255 * f);
        }
      }
      colours[3 * p] = colour[at];
      colours[3 * p + 1] = colour[at + 1];
      colours[3 * p + 2] = colour[at + 2];
    }
    const attribute = this.geometry.attributes.color as THREE.BufferAttribute;
    const target = attribute.array as Float32Array;
    const { vertexPoint } = this.surface!;
    for (let v = 0; v < vertexPoint.length; ++v) {
      const p = 3 * vertexPoint[v];
      target[3 * v] = colours[p];
      target[3 * v + 1] = colours[p + 1];
      target[3 * v + 2] = colours[p + 2];
    }
    attribute.needsUpdate = true;
    const colour = new THREE.Color();
    const of = (p: number) => colour.setRGB(colours[3 * p], colours[3 * p + 1], colours[3 * p + 2], THREE.LinearSRGBColorSpace);
    if (this.tubes) {
      for (let i = 0; i < topology.segments.length; i += 2) this.tubes.setColorAt(i / 2, of(topology.segments[i]));
      this.tubes.instanceColor!.needsUpdate = true;
    }
    if (this.balls) {
      this.ballPoints.forEach((p, i) => this.balls!.setColorAt(i, of(p)));
      this.balls.instanceColor!.needsUpdate = true;
    }
  }

  /** Contact forces as lines from where they act, as long as the root of the force: small ones stay visible. */
  private updateForces(shown: Shown, display: Display) {
    this.forces.visible = shown.contacts !== null;
    if (!shown.contacts) return;
    const { values } = shown.contacts;
    const { xyz } = shown.positions;
    const ends: number[] = [];
    for (let p = 0; p < xyz.length; p += 3) {
      const norm = Math.hypot(values[p], values[p + 1], values[p + 2]);
      if (!(norm > 0) || !this.visible[shown.topology.body[p / 3]]) continue;
      const scale = display.forceScale / Math.sqrt(norm);
      ends.push(xyz[p], xyz[p + 1], xyz[p + 2]);
      ends.push(xyz[p] + scale * values[p], xyz[p + 1] + scale * values[p + 1], xyz[p + 2] + scale * values[p + 2]);
    }
    this.forceGeometry.dispose();
    this.forceGeometry = new THREE.BufferGeometry();
    this.forceGeometry.setAttribute('position', new THREE.Float32BufferAttribute(ends, 3));
    this.forces.geometry = this.forceGeometry;
  }

  get contactLines(): number {
    return this.forces.visible ? (this.forceGeometry.attributes.position?.count ?? 0) / 2 : 0;
  }

  private applyStyle(display: Display) {
    this.mesh.visible = display.style !== 'wireframe';
    this.edges.visible = display.style === 'edges' || display.style === 'wireframe';
    this.edgeMaterial.opacity = display.style === 'wireframe' ? 0.75 : 0.4;
    // Surfaces step back behind their edges, but not without need: bodies that nearly touch would show through.
    this.material.polygonOffset = this.leanMaterial.polygonOffset = this.edges.visible;
    const glass = display.style === 'glass';
    this.mesh.material = this.software && !display.shadows && !glass ? this.leanMaterial : this.material;
    if (this.material.transparent !== glass) {
      this.material.transparent = glass;
      this.material.opacity = glass ? 0.3 : 1;
      this.material.depthWrite = !glass;
      this.material.needsUpdate = true;
    }
    if (this.renderer.shadowMap.enabled !== display.shadows) {
      this.renderer.shadowMap.enabled = display.shadows;
      this.material.needsUpdate = true;
      for (const mesh of [this.tubes, this.balls]) if (mesh) (mesh.material as THREE.Material).needsUpdate = true;
      for (const child of this.grounds.children) ((child as THREE.Mesh).material as THREE.Material).needsUpdate = true;
    }
  }

  /** A three-quarter view from above of all that is simulated, and of obstacles of about its size. `more`: positions at
      other times that should be in the picture, too. */
  fit(more: Float32Array[] = []) {
    if (!this.shown) return;
    const { positions } = this.shown;
    const box = framedBox(this.shown, more, this.origin);
    this.size = Math.max(1e-9, box.getSize(new THREE.Vector3()).length());
    box.getCenter(this.target);

    const { up, directions } = viewDirections(positions.halfSpaces, isPlanar(this.shown.topology.bodies));
    this.up.copy(up);
    // The last one if obstacles hide much of what moves from all of them.
    const seen = (candidate: THREE.Vector3) => this.hiddenShare(candidate, more.at(-1) ?? positions.xyz) < 0.2;
    const d = directions.slice(0, -1).find(seen) ?? directions.at(-1)!;

    const right = this.up.clone().cross(d).normalize();
    const distance = Math.max(0.05 * this.size, viewDistance(box, { d, up, fov: this.camera.fov, aspect: this.camera.aspect }));
    this.aim(this.target.clone().addScaledVector(d, distance), this.target, this.up);
    this.lamp.position
      .copy(this.target)
      .addScaledVector(this.up, 1.5 * this.size)
      .addScaledVector(right, -1.0 * this.size)
      .addScaledVector(d, 0.9 * this.size);
    this.lamp.target.position.copy(this.target);
    this.leanMaterial.uniforms.lamp.value.copy(this.lamp.position).sub(this.target).normalize();
    this.leanMaterial.uniforms.above.value.copy(this.up);
    const shadow = this.lamp.shadow.camera;
    shadow.left = shadow.bottom = -this.size;
    shadow.right = shadow.top = this.size;
    shadow.near = 0.1 * this.size;
    shadow.far = 5 * this.size;
    shadow.updateProjectionMatrix();
    this.sky.position.copy(this.up);
    this.updateGrounds(this.shown);
  }

  private aim(eye: THREE.Vector3, target: THREE.Vector3, up: THREE.Vector3) {
    this.camera.up.copy(up);
    this.camera.position.copy(eye);
    // The controls take the up direction when they are made.
    this.controls?.dispose();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.target.copy(target);
    this.controls.minDistance = 0.02 * this.size;
    this.controls.maxDistance = 20 * this.size;
    this.controls.update();
    this.controls.addEventListener('change', () => {
      this.dirty = true;
      this.onCamera();
    });
    this.dirty = true;
  }

  /** From where one looks; null before the first picture. */
  get pose(): Pose | null {
    if (!this.controls) return null;
    const world = (x: THREE.Vector3) => x.toArray().map((c, k) => c + this.origin[k]) as Vec3;
    return { eye: world(this.camera.position), target: world(this.controls.target), up: this.camera.up.toArray() };
  }

  look({ eye, target, up }: Pose) {
    const origin = new THREE.Vector3(...this.origin);
    this.aim(new THREE.Vector3(...eye).sub(origin), new THREE.Vector3(...target).sub(origin), new THREE.Vector3(...up).normalize());
  }

  /** How much of the simulated points obstacles hide from afar in a direction. */
  private hiddenShare(direction: THREE.Vector3, xyz: Float32Array): number {
    const { topology } = this.shown!;
    const obstacles = topology.bodies.map((body) => body.kind === 'obstacle');
    if (!obstacles.includes(true)) return 0;
    const stride = Math.max(1, Math.floor(topology.points.length / 150));
    let tested = 0;
    let hidden = 0;
    for (let p = 0; p < topology.points.length; p += stride) {
      if (obstacles[topology.body[p]]) continue;
      const ray = { origin: [...xyz.subarray(3 * p, 3 * p + 3)] as Vec3, direction: direction.toArray() };
      ++tested;
      if (pick(ray, this.surface!, topology, xyz, obstacles, this.radius)) ++hidden;
    }
    return tested > 0 ? hidden / tested : 0;
  }

  get sceneSize(): number {
    return this.size;
  }

  /** Looks from where another view looks; if the two show things of different size or place, from where it looks relative to
      what it shows. */
  follow(other: View) {
    if (!this.controls || !other.controls) return;
    const ratio = this.size / other.size;
    const alike = ratio > 0.7 && ratio < 1.4 && this.target.distanceTo(other.target) < 0.5 * this.size;
    const moved = (x: THREE.Vector3) => (alike ? x.clone() : x.clone().sub(other.target).multiplyScalar(ratio).add(this.target));
    this.camera.position.copy(moved(other.camera.position));
    this.camera.up.copy(other.camera.up);
    this.controls.target.copy(moved(other.controls.target));
    const listener = this.onCamera;
    this.onCamera = () => {};
    this.controls.update();
    this.onCamera = listener;
    this.dirty = true;
  }

  /** What is under the pointer. */
  pick(clientX: number, clientY: number): Hit | null {
    if (!this.shown || !this.surface) return null;
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height);
    const caster = new THREE.Raycaster();
    this.camera.updateMatrixWorld();
    caster.setFromCamera(at, this.camera);
    const { origin, direction } = caster.ray;
    const ray = { origin: origin.toArray(), direction: direction.toArray() };
    return pick(ray, this.surface, this.shown.topology, this.shown.positions.xyz, this.visible, this.radius);
  }

  /** Marks a point of the topology; null: none. */
  mark(point: number | null) {
    this.marked = point;
    this.marker.visible = point !== null;
    if (point !== null && this.shown) this.marker.position.fromArray(this.shown.positions.xyz, 3 * point);
    this.dirty = true;
  }

  render(force = false) {
    if (!this.dirty && !force) return;
    this.dirty = false;
    // The farther the near plane, the finer the depths behind it: bodies in contact are very close.
    const distance = this.camera.position.distanceTo(this.target);
    this.camera.near = Math.max(0.005 * this.size, 0.3 * (distance - this.size));
    this.camera.far = distance + 6 * this.size;
    this.camera.updateProjectionMatrix();
    if (this.marker.visible) this.marker.scale.setScalar(0.006 * this.camera.position.distanceTo(this.marker.position));
    this.renderer.render(this.scene, this.camera);
  }

  /** Waits until the picture is drawn; for measurements. */
  finish() {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
}
