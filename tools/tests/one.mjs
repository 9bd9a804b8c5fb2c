// Runs one part of the tests, or one file of it, as the gate and the deep tests do: npm run test:one -- PART [FILE] [-t TITLE]
import { parseArgs } from 'node:util';
import { PARTS } from './parts.mjs';
import { completeMachine } from './prepare-machine.mjs';
import { printSummary } from './print-summary.mjs';
import { runPart } from './run-part.mjs';
import { decideSeed, FIXED_SEED } from './seed.mjs';
import { filesOf } from './test-files.mjs';

const USAGE = `usage: npm run test:one -- PART [FILE] [-t TITLE]\nparts: ${PARTS.map(({ name }) => name).join(' ')}`;
const { values, positionals } = parseArgs({
  options: { title: { type: 'string', short: 't' } },
  allowPositionals: true,
});
const [name, file] = positionals;
const part = PARTS.find((each) => each.name === name);
if (!part || positionals.length > 2 || (file && !filesOf(part).includes(file))) {
  console.error(part && file ? `${name} has no file ${file}; it has ${filesOf(part).length} others` : USAGE);
  process.exit(2);
}
if (!part.isPure) completeMachine(part.layer === 'gate' ? 'gate' : 'all');
const seed = decideSeed(process.env['LITTERBOX_SEED'], FIXED_SEED);
const title = values.title?.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const { results, seconds, log } = await runPart(part, {
  seed,
  ...(file && { files: [file] }),
  ...(title && { titles: [title] }),
});
const isGreen = printSummary([{ part, seed, seconds, results, unstable: [] }]);
console.log(`The whole output: ${log}`);
process.exitCode = isGreen ? 0 : 1;
