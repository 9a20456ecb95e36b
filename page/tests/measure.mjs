// How fast a large run is shown: node measure.mjs PROGRAM RUN [LIMIT]
// Shows frames in Chromium without a screen, so without a graphics card, and prints the medians. With a limit [ms], the
// exit code is 1 if showing a loaded frame costs more CPU time, of all processes of the browser together: how much time
// passes on the clock depends on what else the machine does.
import { chromium } from 'playwright-core';
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const ticks = Number(execFileSync('getconf', ['CLK_TCK']));

/** CPU time [ms] of a process and all below it. */
function cpu(pid) {
  const parents = new Map();
  const spent = new Map();
  for (const name of readdirSync('/proc').filter((n) => /^\d+$/.test(n)))
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
      parents.set(Number(name), Number(fields[1]));
      spent.set(Number(name), ((Number(fields[11]) + Number(fields[12])) * 1000) / ticks);
    } catch {
      // it has just ended
    }
  const below = (p) => p === pid || (p > 1 && parents.has(p) && below(parents.get(p)));
  let sum = 0;
  for (const [p, ms] of spent) if (below(p)) sum += ms;
  return sum;
}

const [program, run, limit] = process.argv.slice(2);
const server = spawn(program, ['view', '--no-open', run], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = await new Promise((done) => server.stdout.once('data', (text) => done(String(text).split('\n')[0])));
const host = await chromium.launchServer({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const browser = await chromium.connect(host.wsEndpoint());
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const begin = performance.now();
  await page.goto(address);
  await page.waitForFunction(() => window.apart?.report().panes[0]?.shown >= 0, null, { timeout: 60000 });
  const opened = performance.now() - begin;
  await page.waitForTimeout(1000);
  const { triangles, frames } = (await page.evaluate(() => window.apart.report())).panes[0];
  const results = await page.evaluate(async (count) => {
    const list = [];
    for (let frame = 0; frame < count; frame += 10) list.push(await window.apart.measure(frame));
    return list;
  }, frames);
  // Frames that are here already, one after the other.
  const rounds = 5;
  const held = Math.min(20, frames);
  await page.evaluate(async (n) => {
    for (let frame = 0; frame < n; ++frame) await window.apart.measure(frame);
  }, held);
  await page.waitForTimeout(1500); // until what is read ahead is here
  const before = cpu(host.process().pid);
  await page.evaluate(
    async ([n, r]) => {
      for (let i = 0; i < n * r; ++i) await window.apart.measure(i % n);
    },
    [held, rounds],
  );
  const cost = (cpu(host.process().pid) - before) / (held * rounds);
  const median = (key) => results.map((r) => r[key]).sort((a, b) => a - b)[results.length >> 1];
  // Playing, as fast as frames come.
  await page.evaluate(() => {
    window.apart.seek(0);
    window.shownFrames = new Set();
    const look = () => {
      window.shownFrames.add(window.apart.report().panes[0].shown);
      requestAnimationFrame(look);
    };
    look();
    window.apart.play();
  });
  await page.waitForTimeout(5000);
  const played = await page.evaluate(() => window.shownFrames.size);
  const { loadedBytes } = (await page.evaluate(() => window.apart.report())).panes[0];
  console.log(
    `${triangles} triangles, ${frames} frames: first picture after ${Math.round(opened)} ms; a frame is loaded in ` +
      `${median('load').toFixed(1)} ms and shown in ${median('show').toFixed(1)} ms (medians), ` +
      `at the cost of ${cost.toFixed(1)} ms of CPU time; ` +
      `${(played / 5).toFixed(1)} frames/s played; ${Math.round(loadedBytes / 1e6)} MB held`,
  );
  if (limit && !(cost < Number(limit))) {
    console.log(`showing a frame must cost less than ${limit} ms of CPU time`);
    process.exitCode = 1;
  }
} finally {
  await browser.close();
  await host.close();
  server.kill();
}
