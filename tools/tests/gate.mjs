// The gate, as tools/test.sh starts it: lint, the fast tests, and on real backends what parts.mjs lists for it.
// usage: gate.mjs [STATUS]   STATUS is the file into which the preparation of the machine, begun before, writes how it ended.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PARTS } from './parts.mjs';
import { useTestFiles } from './prepare-machine.mjs';
import { printSummary } from './print-summary.mjs';
import { OUTPUT } from './run-part.mjs';
import { runParts } from './run-parts.mjs';
import { decideSeed, FIXED_SEED } from './seed.mjs';

const [, , machineStatus] = process.argv;
const isRoot = process.getuid() === 0;
const seed = decideSeed(process.env['LITTERBOX_SEED'], FIXED_SEED);
const start = performance.now();
const secondsNow = () => Math.round((performance.now() - start) / 1000);
const only = process.env['LITTERBOX_TEST_ONLY']?.split(' ').filter(Boolean);
delete process.env['LITTERBOX_TEST_ONLY']; // what is handed on to the ordinary user has no blank in it

/** The machine is prepared beside lint and the fast tests, which need nothing of it. */
const machine = {
  name: 'machine',
  isIdle: true,
  async run() {
    while (!existsSync(machineStatus)) await sleep(100);
    const status = readFileSync(machineStatus, 'utf8').trim();
    if (status !== '0') {
      console.error(`test: the test host is incomplete: it ended with ${status}`);
      process.kill(process.pid, 'SIGTERM');
      await new Promise(() => {});
    }
    useTestFiles();
    console.log(`test: the machine is ready after ${secondsNow()} s`);
  },
};

const parts = PARTS.filter(({ layer }) => layer !== 'deep')
  .filter(({ name }) => !only || only.includes(name))
  .filter(({ layer, as, command }) => isRoot || layer === 'fast' || as === 'user' || command?.includes('tools/lint.sh'))
  .map((part) => (machineStatus && !part.isPure ? { ...part, after: ['machine'] } : part));
mkdirSync(OUTPUT, { recursive: true });
console.log(`test: ${parts.length} parts, seed ${seed}`);
const results = await runParts(parts, { seed, jobs: machineStatus ? [machine] : [] });
writeFileSync(
  join(OUTPUT, 'gate.json'),
  JSON.stringify({
    seconds: secondsNow(),
    parts: results.map(({ part, seconds, unstable }) => ({ name: part.name, seconds, unstable })),
  }),
);
console.log(`test: took ${secondsNow()} s`);
process.exitCode = printSummary(results) ? 0 : 1;
