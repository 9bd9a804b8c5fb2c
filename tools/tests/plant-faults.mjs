// Proves that the tests can fail: plants one fault at a time in a throw-away copy of the checkout and demands that the tests see it there,
// after they were green on the copy as it is.
// usage: plant-faults.mjs [--check] [--seen-by tests | parts] [NAME...]   --check only looks whether each fault can still be planted
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyCheckout } from './copy-checkout.mjs';
import { PARTS } from './parts.mjs';
import { PLANTED_FAULTS } from './planted-faults.mjs';
import { prepareMachine } from './prepare-machine.mjs';
import { seeByParts } from './see-by-parts.mjs';
import { seeByTests } from './see-by-tests.mjs';
import { ROOT } from './test-files.mjs';

/** How many faults of parts the gate may miss; a guard's tests may miss none. */
const MAY_MISS = { parts: 2, tests: 0 };

const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false }, 'seen-by': { type: 'string' } },
});
const unknown = names.find((name) => !PLANTED_FAULTS.some((fault) => fault.name === name));
if (unknown !== undefined) {
  console.error(`faults: none is called ${unknown}; there are: ${PLANTED_FAULTS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const lost = PLANTED_FAULTS.flatMap(lossesOf);
for (const problem of lost) console.error(`faults: ${problem}`);
if (lost.length > 0 || flags.check) process.exit(lost.length > 0 ? 1 : 0);

const chosen = PLANTED_FAULTS.filter(({ name }) => names.length === 0 || names.includes(name)).filter(
  ({ rootOnly }) => !rootOnly || process.getuid?.() === 0,
);
for (const [kind, seeBy] of /** @type {const} */ ([
  ['parts', seeByParts],
  ['tests', seeByTests],
]))
  if ((flags['seen-by'] ?? kind) === kind)
    plantAll(
      kind,
      seeBy,
      chosen.filter((fault) => kind in fault),
    );

/** What keeps a fault from being planted, or seen. */
function lossesOf({ name, also, parts = [], ...edit }) {
  return [
    ...(also ? [edit, also] : [edit])
      .filter(({ file, from, times = 1 }) => sourceOf(file).split(from).length !== times + 1)
      .map(({ file, from }) => `${name}: ${file} does not hold ${from}`),
    ...parts
      .filter((part) => !PARTS.some((one) => one.name === part && one.layer !== 'deep'))
      .map((part) => `${name}: the gate has no part ${part}`),
  ];
}

/** Empty where there is no such file. */
function sourceOf(file) {
  return existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '';
}

function plantAll(kind, seeBy, faults) {
  if (faults.length === 0) return;
  if (kind === 'parts') prepareMachine();
  const copy = mkdtempSync(join(tmpdir(), 'litterbox-faults-'));
  try {
    copyCheckout(copy, { withBuild: kind === 'parts' });
    const tests = seeBy(copy);
    // A part takes minutes: it runs as it is when the first fault needs it, and one that is red keeps no other from being tried.
    const groups = kind === 'parts' ? faults.map((fault) => [fault]) : [faults];
    const missed = groups.flatMap((group) => {
      const red = tests.redWithout(group);
      for (const problem of red) console.error(`faults: ${problem}`);
      return red.length > 0 ? group : group.filter((fault) => !isSeen(copy, tests, fault));
    });
    console.log(`faults: ${faults.length - missed.length} of ${faults.length} are seen by ${kind}`);
    if (missed.length > MAY_MISS[kind]) process.exitCode = 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Plants a fault, runs its tests, and takes it out. */
function isSeen(copy, tests, { name, also, ...fault }) {
  const before = new Map();
  for (const { file, from, to } of also ? [fault, also] : [fault]) {
    const path = join(copy, file);
    const source = readFileSync(path, 'utf8');
    if (!before.has(path)) before.set(path, source); // the second edit may be in the same one
    writeFileSync(
      path,
      source.replaceAll(from, () => to),
    );
  }
  const startMs = performance.now();
  const { isSeen: wasSeen, how } = tests.see(fault);
  for (const [path, source] of before) writeFileSync(path, source);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(`${wasSeen ? 'seen' : 'MISSED'}  ${name}, ${seconds} s: ${how}`);
  return wasSeen;
}
