// How fast a large run is shown: node measure.mjs PROGRAM RUN [LIMIT]
// Shows every tenth frame in Chromium without a screen, so without a graphics card, and prints the medians. With a limit
// [ms], the exit code is 1 if showing a loaded frame takes longer.
import { chromium } from 'playwright-core';
import { spawn } from 'node:child_process';

const [program, run, limit] = process.argv.slice(2);
const server = spawn(program, ['view', '--no-open', run], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = await new Promise((done) => server.stdout.once('data', (text) => done(String(text).split('\n')[0])));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
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
      `${median('load').toFixed(1)} ms and shown in ${median('show').toFixed(1)} ms (medians); ` +
      `${(played / 5).toFixed(1)} frames/s played; ${Math.round(loadedBytes / 1e6)} MB held`,
  );
  if (limit && !(median('show') < Number(limit))) {
    console.log(`must be shown in less than ${limit} ms`);
    process.exitCode = 1;
  }
} finally {
  await browser.close();
  server.kill();
}
