// node exports.mjs PROGRAM DIRECTORY: simulates, exports as glTF, and asks the format's own validator.
import validator from 'gltf-validator';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const program = resolve(process.argv[2]);
const directory = resolve(process.argv[3]);
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
const scene = join(directory, 'scene.json');
// Two quads with a seam in their texture.
writeFileSync(
  join(directory, 'strip.obj'),
  `v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 0 1\nv 1 0 1\nv 2 0 1\nvt 0 0\nvt 0 1\nvt 0.4 1\nvt 0.4 0\nvt 0.6 0\nvt 0.6 1\nvt 1 1\nvt 1 0
vn 0 1 0\nf 1/1/1 4/2/1 5/3/1 2/4/1\nf 2/5/1 5/6/1 6/7/1 3/8/1\n`,
);
writeFileSync(
  scene,
  JSON.stringify({
    version: 1,
    time: { dt: 0.02, steps: 12 },
    bodies: [
      { type: 'half_space', name: 'floor' },
      { type: 'half_space', name: 'press', origin: [0, 1, 0], normal: [0, -1, 0], motion: { translate: [0, '-0.5*t', 0] } },
      { type: 'half_space', name: 'wall', origin: [1, 0, 0], normal: [-1, 0, 0], appears: 0.1, disappears: 0.2 },
      { type: 'volume', name: 'box', mesh: { generator: 'box', size: 0.1, cells: 2 }, transform: { translate: [0, 0.06, 0] } },
      { type: 'shell', name: 'strip', mesh: { file: 'strip.obj' }, transform: { scale: 0.1, translate: [0.3, 0.5, 0] } },
      { type: 'volume', name: 'guest', mesh: { generator: 'sphere', radius: 0.05, resolution: 2 }, transform: { translate: [0, 0.3, 0] }, appears: 0.08 },
    ],
  }),
);
const run = join(directory, 'run');
execFileSync(program, ['run', scene, '-o', run], { stdio: 'pipe' });
let failed = false;
for (const name of ['run.glb', 'run.gltf']) {
  const file = join(directory, name);
  execFileSync(program, ['export', run, '--format', 'gltf', '-o', file], { stdio: 'pipe' });
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)));
  const { numErrors, numWarnings, messages } = report.issues;
  const { animationCount, drawCallCount, totalTriangleCount, hasMorphTargets } = report.info;
  console.log(`${name}: ${numErrors} errors, ${numWarnings} warnings, ${drawCallCount} meshes, ${totalTriangleCount} triangles, ${animationCount} animation`);
  for (const message of messages) console.log(`  ${message.severity} ${message.code} ${message.pointer}: ${message.message}`);
  if (name.endsWith('.gltf')) {
    const { nodes, meshes } = JSON.parse(readFileSync(file, 'utf8'));
    const names = nodes.map((node) => node.name);
    const { attributes } = meshes.find((mesh) => mesh.name === 'strip').primitives[0];
    if (!('TEXCOORD_0' in attributes && 'NORMAL' in attributes)) {
      console.log(`  strip: ${Object.keys(attributes)}`);
      failed = true;
    }
    if (names.sort().join() !== 'box,floor,guest,press,run,strip,wall') {
      console.log(`  nodes: ${names}`);
      failed = true;
    }
  }
  if (numErrors + numWarnings > 0 || animationCount !== 1 || !hasMorphTargets || totalTriangleCount < 50) failed = true;
}
if (!failed) rmSync(directory, { recursive: true, force: true });
process.exitCode = failed ? 1 : 0;
