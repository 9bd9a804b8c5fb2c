// The deep tests: all that the gate leaves out, in parts of ten minutes at most.
//   npm run test:deep                    every part
//   npm run test:deep -- PART...         these
//   npm run test:deep -- --list          names them, with how each ended last
//   npm run test:deep -- --stale N       those that were not green on one of the last N commits, the oldest first
import { parseArgs } from 'node:util';
import { ageOf, isGreenWithin, readRecord, record, staleness } from './deep-record.mjs';
import { PARTS } from './parts.mjs';
import { prepareMachine } from './prepare-machine.mjs';
import { printSummary } from './print-summary.mjs';
import { runParts } from './run-parts.mjs';
import { decideSeed } from './seed.mjs';

const { values, positionals } = parseArgs({
  options: { list: { type: 'boolean' }, stale: { type: 'string' } },
  allowPositionals: true,
});
const deep = PARTS.filter(({ layer }) => layer === 'deep');
const unknown = positionals.filter((name) => !deep.some((part) => part.name === name));
const within = values.stale === undefined ? undefined : Number(values.stale);
if (unknown.length > 0 || (within !== undefined && !(Number.isInteger(within) && within > 0))) {
  if (unknown.length > 0) console.error(`test:deep: no part is named ${unknown.join(', ')}`);
  console.error(
    `usage: npm run test:deep [-- [--list] [--stale N] PART...]\nparts: ${deep.map(({ name }) => name).join(' ')}`,
  );
  process.exit(2);
}
const rows = readRecord();
const chosen = deep
  .filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  .filter(({ name }) => within === undefined || !isGreenWithin(rows[name], within));
if (within !== undefined) {
  const ages = new Map(chosen.map(({ name }) => [name, ageOf(rows[name])]));
  chosen.sort((one, other) =>
    ages.get(other.name) === ages.get(one.name) ? 0 : ages.get(other.name) - ages.get(one.name),
  );
}

if (values.list) {
  for (const part of chosen) {
    const row = rows[part.name];
    const took = row ? `${String(row.seconds).padStart(4)} s` : '   - s';
    console.log(`${part.name.padEnd(28)} ${took}  ${staleness(part, row) ?? `green on ${row.commit}, ${row.date}`}`);
  }
} else {
  const seed = decideSeed(process.env['LITTERBOX_SEED'], 'random');
  console.log(`test:deep: ${chosen.length} parts, seed ${seed}`);
  prepareMachine();
  const results = await runParts(chosen, { seed, onPart: (result) => record(result, deep) });
  process.exitCode = printSummary(results) ? 0 : 1;
}
