import { cpus } from 'node:os';
import { relative } from 'node:path';
import { runJobs } from './run-jobs.mjs';
import { ROOT } from './test-files.mjs';
import { runPart } from './run-part.mjs';

/** More files than these are no matter of chance, and are not heard again. */
const MAX_HEARINGS = 6;

/**
 * @typedef {object} PartResult
 * @property {import('./parts.mjs').Part} part
 * @property {number} seconds
 * @property {number} seed
 * @property {import('./run-part.mjs').FileResult[]} results
 * @property {Unstable[]} unstable files that failed, and passed when they were run once more
 */
/** @typedef {{ file: string, part: string, failures: readonly { title: string, message: string }[], logs: readonly string[] }} Unstable */

/**
 * Runs parts, some at a time, and each file that failed once more, alone.
 *
 * @param {readonly import('./parts.mjs').Part[]} parts
 * @param {{ seed: number, jobs?: readonly import('./run-jobs.mjs').Job[], say?: (line: string) => void, onPart?: (result: PartResult) => void }} options
 * `jobs` are what runs beside them, and what they may name in `after`
 * @returns {Promise<PartResult[]>}
 */
export async function runParts(parts, { seed, jobs = [], say = console.log, onPart = () => {} }) {
  const ended = [];
  let number = 0;
  await runJobs(
    [
      ...jobs,
      ...parts.map((part) => ({
        ...part,
        run: async () => {
          const { results, seconds, log } = await runPart(part, { seed });
          const result = { part, seconds, seed, results, unstable: [], log };
          ended.push(result);
          number += 1;
          const failed = sum(results, 'failed');
          say(
            `[${String(number).padStart(2)}/${parts.length}] ${failed === 0 ? 'passed' : 'FAILED'}  ${part.name}: ` +
              `${sum(results, 'passed')} passed, ${failed} failed, ${Math.round(seconds)} s`,
          );
          if (failed === 0) onPart(result);
        },
      })),
    ],
    lanesOf(process.env['LITTERBOX_TEST_LANES']),
  );
  const red = ended.flatMap((result) =>
    result.results.filter(({ failed }) => failed > 0).map((row) => ({ result, row })),
  );
  if (red.length <= MAX_HEARINGS)
    for (const [index, { result, row }] of red.entries()) await hearAgain(result, row, index, say);
  else say(`${red.length} files failed: that is no chance, and none is run again`);
  for (const result of new Set(red.map(({ result }) => result))) onPart(result);
  return ended;
}

/** Runs a failed file once more, alone. Where it passes, its first failure is told as unstable. */
async function hearAgain(result, row, index, say) {
  const { part, seed } = result;
  const name = `${part.name}-again-${index}`;
  say(`again, alone: ${row.file} of ${part.name}`);
  const again = await runPart(part, {
    seed,
    name,
    ...(part.files?.length && row.file.endsWith('.test.ts') ? { files: [row.file] } : {}),
  });
  if (again.results.some(({ failed }) => failed > 0)) return;
  const logs = [result.log, again.log].map((log) => relative(ROOT, log));
  result.unstable.push({ file: row.file, part: part.name, failures: row.failures, logs });
  result.results.splice(result.results.indexOf(row), 1, ...again.results);
}

function lanesOf(text) {
  const lanes = Number(text || Math.max(2, cpus().length));
  if (!Number.isInteger(lanes) || lanes < 1)
    throw new Error(`LITTERBOX_TEST_LANES is '${text}'; it takes a number of one or more`);
  return lanes;
}

export const sum = (rows, key) => rows.reduce((total, row) => total + row[key], 0);
