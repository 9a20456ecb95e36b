// The page in a real browser: node browser.mjs PROGRAM DIRECTORY
// Makes runs with the program, shows them in Chromium without a screen, and does what people do. Each check says what it
// found when it fails; the exit code is 1 if one did.
import { chromium } from 'playwright-core';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const program = resolve(process.argv[2]);
const directory = resolve(process.argv[3]);
const children = [];
let failures = 0;

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });

const scene = (steps, more = {}) => ({
  version: 1,
  time: { dt: 0.01, steps },
  bodies: [
    { type: 'half_space', name: 'floor' },
    { type: 'volume', name: 'box', mesh: { generator: 'box', size: [0.4, 0.1, 0.4], cells: [4, 1, 4] }, transform: { translate: [0, 0.06, 0] } },
    { type: 'volume', name: 'ball', mesh: { generator: 'sphere', radius: 0.1, resolution: 3 }, transform: { translate: [0, 0.24, 0] }, velocity: [0.2, -1, 0] },
  ],
  contact: { friction_coefficient: 0.3 },
  probes: [
    { type: 'position', name: 'middle', body: 'ball', where: { all: true } },
    { type: 'pressure', name: 'pressure', body: 'box' },
  ],
  ...more,
});

function writeScene(name, content) {
  const file = join(directory, `${name}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

/** Simulates a scene; `code` is how the program must end. */
function simulate(name, content, code = 0) {
  let ended = 0;
  try {
    execFileSync(program, ['run', writeScene(name, content), '-o', join(directory, name)], { stdio: 'pipe' });
  } catch (error) {
    ended = error.status;
  }
  if (ended !== code) throw new Error(`apart run ${name} ended with ${ended} instead of ${code}`);
  return join(directory, name);
}

async function serve(...runs) {
  const server = spawn(program, ['view', '--no-open', ...runs], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(server);
  const address = await new Promise((done, fail) => {
    server.stdout.once('data', (text) => done(String(text).split('\n')[0]));
    server.once('exit', () => fail(new Error('apart view ended at once')));
  });
  return { address, stop: () => server.kill() };
}

async function check(name, body) {
  const begin = performance.now();
  try {
    await body();
    console.log(`ok    ${name} (${Math.round(performance.now() - begin)} ms)`);
  } catch (error) {
    ++failures;
    console.log(`FAIL  ${name}: ${error.stack}`);
    await page.screenshot({ path: join(directory, `failed-${failures}.png`) }).catch(() => {});
  }
}

function expect(condition, what) {
  if (!condition) throw new Error(what);
}

let page;
const report = () => page.evaluate(() => window.apart.report());

/** Waits until a condition on the report holds. */
async function until(what, condition, timeout = 60000) {
  const end = performance.now() + timeout;
  let last;
  while (performance.now() < end) {
    last = await report().catch(() => null);
    if (last?.panes && condition(last)) return last;
    await page.waitForTimeout(30);
  }
  throw new Error(`${what}: did not happen; the page says ${JSON.stringify(last)}`);
}

async function open(server) {
  await page.goto(server.address);
  return until('the first frame', (r) => r.panes.length > 0 && r.panes.every((pane) => pane.shown >= 0));
}

/** Waits until all that was asked for has been loaded, drawn and brought to the screen. */
async function settle() {
  await until('everything is drawn', (r) => r.settled);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** The pixels of a picture of the first view, after everything has settled. */
async function picture(selector = '.view canvas') {
  await settle();
  const png = (await page.locator(selector).first().screenshot()).toString('base64');
  const key = `picture-${++pictures}`;
  const seen = await page.evaluate(
    async ([data, name]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
      (window.pictures ??= {})[name] = pixels;
      const counts = new Map();
      for (const p of pixels) counts.set(p, (counts.get(p) ?? 0) + 1);
      return { pixels: pixels.length, colours: counts.size, most: Math.max(...counts.values()) };
    },
    [png, key],
  );
  return { key, ...seen };
}
let pictures = 0;

/** Share of the pixels in which two pictures differ. */
function difference(a, b) {
  return page.evaluate(
    ([x, y]) => {
      const [p, q] = [window.pictures[x], window.pictures[y]];
      let n = 0;
      for (let i = 0; i < p.length; ++i) n += p[i] !== q[i];
      return n / p.length;
    },
    [a.key, b.key],
  );
}

async function differs(a, b, what, least = 0.001) {
  const share = await difference(a, b);
  expect(share >= least, `${what}: only ${(100 * share).toFixed(3)} % of the pixels differ`);
}

async function choose(selector, value) {
  await page.locator(selector).selectOption(value);
}

/** The end of the timeline is 1. */
async function scrub(fraction) {
  const box = await page.locator('.timeline').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 7 + fraction * (box.width - 14), box.y + box.height / 2, { steps: 3 });
  await page.mouse.up();
}

const run = simulate('falling', scene(40));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
try {
  page = await browser.newPage({ viewport: { width: 1000, height: 640 } });
  const complaints = [];
  const foreign = [];
  const addresses = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // The browser reports every answer other than 200 by itself.
    if (message.type() === 'error' && !message.text().includes('422')) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const known = [...addresses, 'data:'].some((address) => request.url().startsWith(address));
    if (!known) foreign.push(request.url());
  });

  let server = await serve(run);
  addresses.push(server.address);

  await check('loads and shows the first frame', async () => {
    const now = await open(server);
    expect(now.panes[0].frames === 41 && now.panes[0].status === 'finished', JSON.stringify(now));
    expect(now.bodies.join() === 'floor,box,ball', `bodies: ${now.bodies}`);
    const seen = await picture();
    expect(seen.colours > 50, `only ${seen.colours} colours: the picture is empty`);
    expect(seen.most < 0.95 * seen.pixels, 'nearly all of the picture is background');
  });

  await check('plays, pauses, and stays', async () => {
    await choose('#speed', '0.5');
    const before = await picture();
    await page.locator('#play').click();
    await until('playing', (r) => r.panes[0].shown >= 5);
    await page.locator('#play').click();
    const paused = await report();
    expect(!paused.playing, 'still playing');
    await page.waitForTimeout(300);
    expect((await report()).time === paused.time, 'time goes on');
    await differs(before, await picture(), 'first and later frame');
  });

  await check('loops, or stops at the end', async () => {
    await choose('#speed', '2');
    await page.evaluate(() => window.apart.seek(0.36));
    await page.locator('#play').click();
    await until('begins again', (r) => r.playing && r.time < 0.3);
    await page.locator('#loop').uncheck();
    await until('stops', (r) => !r.playing && r.time === r.end);
    await page.locator('#loop').check();
  });

  await check('scrubs', async () => {
    await scrub(0);
    await until('frame 0', (r) => r.panes[0].shown === 0);
    const first = await picture();
    await scrub(0.5);
    await until('the middle', (r) => r.panes[0].shown === 20);
    const middle = await picture();
    await differs(first, middle, 'first and middle frame');
    await scrub(0);
    await until('frame 0 again', (r) => r.panes[0].shown === 0);
    expect((await difference(first, await picture())) === 0, 'the same frame gives another picture');
    await page.locator('#next').click();
    await until('next', (r) => r.panes[0].shown === 1);
    await page.keyboard.press('ArrowRight');
    await until('key', (r) => r.panes[0].shown === 2);
    await page.keyboard.press('End');
    await until('end', (r) => r.panes[0].shown === 40);
  });

  await check('plots are drawn and move the time', async () => {
    expect((await page.locator('.plots:not(.probes) .plot').count()) === 5, 'five plots');
    for (let i = 0; i < 5; ++i) {
      const text = await page.locator('.plot-value').nth(i).textContent();
      expect(/\d/.test(text), `plot ${i} has no value`);
    }
    const drawn = await picture('.plots');
    expect(drawn.colours > 20, `only ${drawn.colours} colours: the plots are empty`);
    const box = await page.locator('.plot-area').nth(2).boundingBox();
    await page.mouse.click(box.x + box.width / 4, box.y + box.height / 2);
    await until('a quarter', (r) => Math.abs(r.time - 0.1) < 0.02);
    await differs(drawn, await picture('.plots'), 'plots at two times');
  });

  await check('plots what probes measured', async () => {
    const titles = await page.locator('.probes .plot-head b').allTextContents();
    // Pressures and the area they act on have units of their own.
    expect(titles.join() === 'middle,pressure,pressure.area', `probes: ${titles}`);
    const units = await page.locator('.probes .plot-value').allTextContents();
    expect([' m', ' Pa', ' m^2'].every((unit, i) => units[i].endsWith(unit)), `units: ${units}`);
    const height = readFileSync(join(run, 'probes.csv'), 'utf8').trim().split('\n').map((line) => line.split(','));
    await page.keyboard.press('End');
    await until('end', (r) => r.panes[0].shown === 40);
    await settle();
    // The value that is written is the first number of the probe in the last row.
    const written = await page.locator('.probes .plot-value').first().textContent();
    expect(Math.abs(parseFloat(written) - Number(height.at(-1)[2])) < 1e-2 * Math.abs(Number(height.at(-1)[2])) + 1e-6, `${written} instead of ${height.at(-1)[2]}`);
    expect((await picture('.probes')).colours > 20, 'the plots of probes are empty');
  });

  await check('gives a link that opens the same frame, camera and colours', async () => {
    await page.evaluate(() => window.apart.seek(0.2));
    await until('the middle', (r) => r.panes[0].shown === 20);
    await choose('#field', 'displacement');
    await choose('#style', 'edges');
    await settle(); // the legend moves what is below it
    await page.locator('[data-body="box"] input[type=checkbox]').uncheck();
    const box = await page.locator('.view canvas').first().boundingBox();
    await page.mouse.move(box.x + 100, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 190, box.y + 130, { steps: 4 });
    await page.mouse.up();
    await page.locator('#link').click();
    const before = await report();
    const address = await page.locator('#address').inputValue();
    const command = await page.locator('#command').inputValue();
    const seen = await picture();
    expect(address.startsWith(server.address) && address.includes('t=0.2'), address);
    await page.goto('about:blank');
    await page.goto(address);
    await until('the frame of the link', (r) => r.panes[0]?.shown === 20 && !r.playing);
    await settle();
    const after = await report();
    for (const name of ['eye', 'target', 'up'])
      for (let k = 0; k < 3; ++k) expect(Math.abs(after.pose[name][k] - before.pose[name][k]) < 1e-6, `${name}: ${after.pose[name]} instead of ${before.pose[name]}`);
    expect((await page.locator('#field').inputValue()) === 'displacement' && (await page.locator('#style').inputValue()) === 'edges', 'colours or style');
    expect(!(await page.locator('[data-body="box"] input[type=checkbox]').isChecked()), 'the box is seen');
    expect((await picture()).colours > 20 && seen.colours > 20, 'an empty picture');
    // The command draws that frame.
    const words = command.replace("'falling'", run).split(' ').slice(1);
    execFileSync(program, [...words, '--size', '64x48', '--samples', '1'], { cwd: directory, stdio: 'pipe' });
    expect(readFileSync(join(directory, 'picture.png')).length > 100, 'no picture');
    await page.goto('about:blank');
    await page.goto(`${server.address}#t=1e9&eye=1,2&colour=nothing&hide=nobody&style=x`);
    await until('the last frame in spite of a wrong link', (r) => r.panes[0]?.shown === 40);
    await open(server);
  });

  await check('shows each surface of curved cells', async () => {
    expect(await page.locator('#surface').isHidden(), 'a choice although there is one surface only');
    const ball = { generator: 'sphere', radius: 0.1, resolution: 2 };
    const curved = simulate('curved', {
      ...scene(2),
      bodies: [
        { type: 'half_space', name: 'floor' },
        { type: 'volume', name: 'ball', mesh: { ...ball, resolution: 1, curve: 2 }, basis_order: 2, transform: { translate: [0, 0.2, 0] }, collision: { mesh: ball } },
      ],
      probes: [],
    });
    const both = await serve(curved);
    addresses.push(both.address);
    await open(both);
    await settle();
    const seen = {};
    for (const name of ['shape', 'collision', 'cells']) {
      await choose('#surface', name);
      seen[name] = await picture();
      seen[name].triangles = (await report()).panes[0].triangles;
    }
    expect(seen.shape.triangles === seen.collision.triangles, `${seen.shape.triangles} and ${seen.collision.triangles}`);
    expect(seen.cells.triangles !== seen.collision.triangles, 'as many triangles on cells as on the collision mesh');
    await differs(seen.cells, seen.collision, 'cells and the collision mesh');
    // A link keeps it, and the command draws it.
    await page.locator('#link').click();
    const [address, command] = [await page.locator('#address').inputValue(), await page.locator('#command').inputValue()];
    expect(address.includes('surface=cells') && command.endsWith('--surface cells'), `${address}, ${command}`);
    await page.goto('about:blank');
    await page.goto(address);
    await until('the surface of the link', (r) => r.panes[0]?.triangles === seen.cells.triangles);
    expect((await page.locator('#surface').inputValue()) === 'cells', 'the choice says something else');
    both.stop();
    await open(server);
  });

  await check('picks', async () => {
    await page.keyboard.press('End');
    await until('end', (r) => r.panes[0].shown === 40);
    const box = await page.locator('.view canvas').first().boundingBox();
    const found = new Set();
    for (let i = 2; i < 9 && found.size < 2; ++i)
      for (let j = 2; j < 9 && found.size < 2; ++j) {
        await page.mouse.click(box.x + (box.width * i) / 10, box.y + (box.height * j) / 10);
        await settle();
        const { selected } = await report();
        if (selected) {
          expect(selected.element.kind === 'tetrahedron' && selected.corners.includes(selected.point), JSON.stringify(selected));
          expect(selected.stress > 0 && selected.velocity.length === 3, JSON.stringify(selected));
          const text = await page.locator('#picked').textContent();
          expect(text.includes(selected.name) && text.includes(`tetrahedron ${selected.element.number}`), text);
          found.add(selected.name);
        }
      }
    expect(found.has('box') && found.has('ball'), `found only ${[...found]}`);
    await page.mouse.click(box.x + box.width - 5, box.y + 5);
    await until('nothing is selected', (r) => r.selected === null);
  });

  await check('hides, isolates and colours bodies', async () => {
    const all = await picture();
    const row = page.locator('[data-body="ball"]');
    await row.locator('input[type=checkbox]').uncheck();
    const without = await picture();
    await differs(all, without, 'with and without the ball');
    await page.locator('[data-body="ball"] .only').click();
    const only = await picture();
    await differs(without, only, 'only the ball and all but the ball');
    await page.locator('[data-body="ball"] .only').click();
    await page.locator('text=Show all').click();
    expect((await difference(all, await picture())) === 0, 'not everything came back');
    await page.locator('[data-body="box"] .swatch').fill('#00ff00');
    await differs(all, await picture(), 'box in another colour', 0.01);
  });

  await check('colours by every quantity', async () => {
    let before = await picture();
    for (const field of ['speed', 'stress', 'strain', 'contact_force', 'contact_pressure', 'gap', 'displacement']) {
      await choose('#field', field);
      const now = await picture();
      await differs(before, now, field);
      expect(await page.locator('.legend').isVisible(), 'no legend');
      expect(Number(await page.locator('#high').inputValue()) > Number(await page.locator('#low').inputValue()), `${field}: no range`);
      before = now;
    }
    await choose('#field', '');
  });

  await check('shows contact forces, edges, wireframe and no ground', async () => {
    const plain = await picture();
    await page.locator('#contacts').check();
    await until('lines', (r) => r.panes[0].contacts > 3);
    await differs(plain, await picture(), 'contact forces');
    await page.locator('#contacts').uncheck();
    let before = await picture();
    for (const style of ['edges', 'wireframe', 'glass', 'solid']) {
      await choose('#style', style);
      const now = await picture();
      await differs(before, now, style);
      before = now;
    }
    await page.locator('#ground').uncheck();
    await differs(before, await picture(), 'ground', 0.05);
    await page.locator('#shadows').check();
    await page.locator('#ground').check();
    await differs(before, await picture(), 'shadows', 0.002);
  });

  await check('controls do not overlap in narrow windows', async () => {
    await choose('#field', 'stress');
    for (const width of [1400, 1000, 700, 500]) {
      await page.setViewportSize({ width, height: 640 });
      await settle();
      const wrong = await page.evaluate(() => {
        const shown = (e) => e.getClientRects().length > 0;
        const name = (e) => e.id || e.className || e.textContent;
        const box = (e) => e.getBoundingClientRect();
        const apart = (a, b) => a.right <= b.left + 0.5 || b.right <= a.left + 0.5 || a.bottom <= b.top + 0.5 || b.bottom <= a.top + 0.5;
        const found = [];
        const groups = ['.controls > *', '.panel .row > *', '.panel .choice', '.panel .ends > *', '.panel button', '.plot-head > *'];
        for (const group of groups) {
          const parts = [...document.querySelectorAll(group)].filter(shown);
          for (const a of parts) {
            const around = box(a.parentElement);
            if (box(a).left < around.left - 0.5 || box(a).right > around.right + 0.5) found.push(`${name(a)} sticks out`);
            for (const b of parts) if (a !== b && !apart(box(a), box(b))) found.push(`${name(a)} lies on ${name(b)}`);
          }
        }
        for (const part of document.querySelectorAll('.plot-legend, .plot-head'))
          if (part.scrollWidth > part.clientWidth + 1) found.push(`${name(part)} '${part.textContent}' is cut off`);
        for (const part of document.querySelectorAll('.controls, .below, .panel'))
          if (box(part).right > innerWidth + 0.5 || part.scrollWidth > part.clientWidth + 1) found.push(`${name(part)} is cut off`);
        const view = box(document.querySelector('.view'));
        if (view.width < 200 || view.height < 120) found.push(`the picture has ${view.width} x ${view.height} pixels`);
        return found;
      });
      expect(wrong.length === 0, `${width} pixels: ${wrong.join(', ')}`);
    }
    await page.setViewportSize({ width: 1000, height: 640 });
    await choose('#field', '');
  });

  await check('turns, and finds back', async () => {
    await page.keyboard.press('f');
    const before = await picture();
    const box = await page.locator('.view canvas').first().boundingBox();
    await page.mouse.move(box.x + 100, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 220, box.y + 140, { steps: 4 });
    await page.mouse.up();
    await differs(before, await picture(), 'turned', 0.05);
    await page.keyboard.press('f');
    expect((await difference(before, await picture())) === 0, 'another view than before');
  });
  server.stop();

  await check('passes over a truncated and a missing frame', async () => {
    const damaged = join(directory, 'damaged');
    cpSync(run, damaged, { recursive: true });
    const file = (n) => join(damaged, 'frames', `frame_${String(n).padStart(6, '0')}.vtu`);
    truncateSync(file(5), 1000);
    rmSync(file(7));
    server = await serve(damaged);
    addresses.push(server.address);
    await open(server);
    await page.evaluate(() => window.apart.seek(0.05));
    const five = await until('frame 5 is said to be damaged', (r) => r.panes[0].bad.includes(5) && r.panes[0].message !== '');
    expect(/Frame 5 cannot be shown.*frame_000005/.test(five.panes[0].message), five.panes[0].message);
    await page.evaluate(() => window.apart.seek(0.06));
    await until('frame 6', (r) => r.panes[0].shown === 6 && r.panes[0].message === '');
    await page.evaluate(() => window.apart.seek(0.07));
    await until('frame 7 is missing', (r) => /missing/.test(r.panes[0].message));
    await page.evaluate(() => window.apart.seek(0.03));
    await choose('#speed', '0.5');
    await page.locator('#play').click();
    await until('playing goes on', (r) => r.panes[0].shown >= 9);
    server.stop();
  });

  await check('says why a run failed', async () => {
    const failed = simulate('failed', scene(20, { solver: { max_iterations: 1 } }), 3);
    const { reason } = JSON.parse(readFileSync(join(failed, 'summary.json'), 'utf8'));
    server = await serve(failed);
    addresses.push(server.address);
    const now = await open(server);
    expect(now.panes[0].status === 'failed', JSON.stringify(now));
    expect(now.panes[0].message === reason && reason.length > 10, `${now.panes[0].message} instead of ${reason}`);
    expect(await page.locator('.message').isVisible(), 'the message cannot be seen');
    server.stop();
  });

  await check('follows a live run to its end', async () => {
    // Longer than anybody looks; ended by Ctrl-C when enough has been seen.
    const live = join(directory, 'live');
    const running = spawn(program, ['run', writeScene('live', scene(100000, { output: { every: 4 } })), '-o', live, '--threads', '1'], { stdio: 'ignore' });
    children.push(running);
    const ended = new Promise((done) => running.once('exit', done));
    const start = performance.now();
    for (;;) {
      try {
        readFileSync(join(live, 'scene.json'));
        break;
      } catch {
        if (performance.now() - start > 60000) throw new Error('the run does not begin');
        await page.waitForTimeout(20);
      }
    }
    server = await serve(live);
    addresses.push(server.address);
    const first = await open(server);
    const later = await until('more frames', (r) => r.panes[0].frames > first.panes[0].frames && r.panes[0].shown > first.panes[0].shown);
    expect(later.panes[0].status === 'running', `status ${later.panes[0].status}`);
    running.kill('SIGINT');
    expect((await ended) === 130, 'apart run was not interrupted');
    const { frames } = JSON.parse(readFileSync(join(live, 'summary.json'), 'utf8'));
    await until('the end', (r) => r.panes[0].status === 'interrupted' && r.panes[0].frames === frames && r.panes[0].shown === frames - 1);
    server.stop();
  });

  await check('shows the frames that a continued run has written again', async () => {
    const name = 'continued';
    const folder = join(directory, name);
    const file = writeScene(name, scene(12, { output: { every: 3 } }));
    execFileSync(program, ['run', file, '-o', folder, '--steps', '5'], { stdio: 'pipe' });
    server = await serve(folder);
    addresses.push(server.address);
    await open(server);
    await page.evaluate(() => window.apart.seek(0.05));
    await until('the last frame', (r) => r.panes[0].frames === 3 && r.panes[0].shown === 2 && r.panes[0].shownTime === 0.05);
    execFileSync(program, ['run', '--resume', folder], { stdio: 'pipe' });
    await until('more frames', (r) => r.panes[0].frames === 5);
    await page.evaluate(() => window.apart.seek(0.06));
    await until('the frame in place of the last', (r) => r.panes[0].shown === 2 && Math.abs(r.panes[0].shownTime - 0.06) < 1e-9);
    // Started anew, with half the time step.
    execFileSync(program, ['run', writeScene(name, scene(8, { time: { dt: 0.005, steps: 8 } })), '-o', folder, '--force'], { stdio: 'pipe' });
    await until('the new run', (r) => r.panes[0].frames === 9);
    await page.evaluate(() => window.apart.seek(0.04));
    await until('its end', (r) => r.panes[0].shown === 8 && Math.abs(r.panes[0].shownTime - 0.04) < 1e-9);
  });

  await check('says that a run is gone', async () => {
    const folder = join(directory, 'continued');
    renameSync(folder, `${folder}-elsewhere`);
    await until('a message', (r) => r.panes[0].status === 'gone' && /gone/.test(r.panes[0].message));
    renameSync(`${folder}-elsewhere`, folder);
    await until('it is back', (r) => r.panes[0].status === 'finished' && r.panes[0].message === '' && r.panes[0].frames === 9);
    server.stop();
  });

  await check('shows two runs side by side on one timeline', async () => {
    const other = simulate('other', scene(20, { output: { every: 2 } }));
    server = await serve(run, other);
    addresses.push(server.address);
    const now = await open(server);
    expect(now.panes.length === 2 && now.panes[1].frames === 11, JSON.stringify(now));
    await page.evaluate(() => window.apart.seek(0.1));
    await until('both at 0.1 s', (r) => r.panes[0].shown === 10 && r.panes[1].shown === 5);
    const views = page.locator('.view canvas');
    expect((await views.count()) === 2, 'two views');
    const right = async () => {
      await settle();
      return (await views.nth(1).screenshot()).toString('base64');
    };
    const before = await right();
    const box = await views.first().boundingBox();
    await page.mouse.move(box.x + 60, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 160, box.y + 80, { steps: 3 });
    await page.mouse.up();
    expect((await right()) !== before, 'the second view does not turn with the first');
    await page.evaluate(() => window.apart.seek(0.4));
    await until('the shorter run stays at its end', (r) => r.panes[0].shown === 40 && r.panes[1].shown === 10);
  });

  await check('says that the server has ended', async () => {
    server.stop();
    await until('a message', (r) => /start it again/.test(r.panes[0].message));
    complaints.length = 0; // that it cannot be reached any more
  });

  await check('asks nobody else and complains about nothing', async () => {
    expect(foreign.length === 0, `asked for ${foreign}`);
    expect(complaints.length === 0, complaints.join('\n'));
  });
} finally {
  await browser.close();
  for (const child of children) child.kill();
}
if (failures === 0) rmSync(directory, { recursive: true, force: true });
console.log(failures === 0 ? 'all passed' : `${failures} failed; pictures are in ${directory}`);
process.exitCode = failures === 0 ? 0 : 1;
