// The viewer in a cell of Jupyter: node notebook.mjs JUPYTER DIRECTORY, with PYTHONPATH leading to the package
// Starts a notebook server, runs a cell that simulates and shows a run in a real browser, and looks into the cell.
import { chromium } from 'playwright-core';
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';

const [jupyter, directory] = [process.argv[2], resolve(process.argv[3])];
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
const cell = 'import apart\nrun = apart.run("five-cubes", "run", steps=5)\nrun.view(height=400)';
writeFileSync(
  join(directory, 'view.ipynb'),
  JSON.stringify({
    cells: [{ cell_type: 'code', execution_count: null, id: 'one', metadata: {}, outputs: [], source: cell }],
    metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
    nbformat: 4,
    nbformat_minor: 5,
  }),
);

const port = await new Promise((done) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => done(port));
  });
});
const server = spawn(
  jupyter,
  ['--allow-root', '--no-browser', '--ip=127.0.0.1', `--port=${port}`, '--NotebookApp.token=', '--NotebookApp.password=', `--notebook-dir=${directory}`],
  { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: directory, JUPYTER_RUNTIME_DIR: join(directory, 'runtime') } },
);
let said = '';
server.stderr.on('data', (text) => (said += text));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
let code = 1;
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
  for (let attempt = 0; ; ++attempt) {
    try {
      await page.goto(`http://127.0.0.1:${port}/notebooks/view.ipynb`);
      break;
    } catch (error) {
      if (attempt > 120) throw error;
      await page.waitForTimeout(500);
    }
  }
  await page.waitForFunction(() => window.Jupyter?.notebook?.kernel?.is_connected() && window.Jupyter.notebook.ncells() > 0, null, { timeout: 120000 });
  await page.evaluate(() => window.Jupyter.notebook.execute_all_cells());
  const handle = await page.waitForSelector('.output iframe', { timeout: 180000 });
  const frame = await handle.contentFrame();
  // Five cubes, drawn at the first of six frames.
  await frame.waitForFunction(
    () => {
      const pane = window.apart?.report?.().panes?.[0];
      return pane?.frames === 6 && pane.shown === 0 && pane.triangles >= 5 * 12;
    },
    null,
    { timeout: 120000 },
  );
  await handle.screenshot({ path: join(directory, 'cell.png') });
  code = 0;
} catch (error) {
  console.log(error.stack, '\n', said.slice(-2000));
} finally {
  await browser.close();
  server.kill('SIGTERM');
}
process.exit(code);
