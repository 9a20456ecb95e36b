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
    const names = JSON.parse(readFileSync(file, 'utf8')).nodes.map((node) => node.name);
    if (names.sort().join() !== 'box,floor,guest,press,run,wall') {
      console.log(`  nodes: ${names}`);
      failed = true;
    }
  }
  if (numErrors + numWarnings > 0 || animationCount !== 1 || !hasMorphTargets || totalTriangleCount < 50) failed = true;
}
if (!failed) rmSync(directory, { recursive: true, force: true });
process.exitCode = failed ? 1 : 0;
