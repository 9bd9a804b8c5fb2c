import { sum } from './run-parts.mjs';

const SLOW_SECONDS = 15;
const COSTLY_TESTS = 10;

/**
 * Prints where the time and the programs went, what failed with the command that repeats it, what is unstable, and the one line that CI reads.
 *
 * @param {readonly import('./run-parts.mjs').PartResult[]} parts
 * @returns {boolean} whether nothing failed
 */
export function printSummary(parts) {
  const rows = parts.flatMap(({ part, seed, results }) => results.map((result) => ({ ...result, part, seed })));
  const slow = rows.filter(({ seconds }) => seconds >= SLOW_SECONDS).sort((one, other) => other.seconds - one.seconds);
  console.log('\nWhat took longest:');
  for (const { file, part, seconds } of slow)
    console.log(`${String(Math.round(seconds)).padStart(5)} s  ${file} (${part.name})`);
  const tests = rows.flatMap(({ file, part, tests }) => tests.map((test) => ({ ...test, file, part })));
  printCostly('The tests that took longest', tests, ({ milliseconds }) => milliseconds / 1000, 's');
  printCostly('The tests that started most programs', tests, ({ programs = 0 }) => programs, 'programs');
  for (const { file, part, seed, failures } of rows)
    for (const { title, message } of failures) {
      console.log(
        `\nFAILED ${file} (${part.name}): ${title}\n${message}\nAgain: ${repeatCommand(part, file, title, seed)}`,
      );
    }
  for (const { file, part, failures, logs } of parts.flatMap(({ unstable }) => unstable))
    console.log(
      `\nUNSTABLE ${file} (${part}): failed, and passed when it ran once more, alone. Both outputs: ${logs.join(', ')}\n` +
        failures.map(({ title, message }) => `${title}\n${message}`).join('\n'),
    );
  const failed = sum(rows, 'failed');
  console.log(`\n${sum(rows, 'passed')} passed, ${failed} failed, ${sum(rows, 'skipped')} skipped`);
  return failed === 0;
}

/** The command that runs one test as it ran, for a shell. */
export function repeatCommand({ name, command }, file, title, seed) {
  const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const narrowed = command ? [] : [file, ...(title ? ['-t', quoted(title)] : [])];
  return [`LITTERBOX_SEED=${seed}`, 'npm', 'run', 'test:one', '--', name, ...narrowed].join(' ');
}

function printCostly(head, tests, costOf, unit) {
  const costly = tests.filter((test) => costOf(test) > 0).sort((one, other) => costOf(other) - costOf(one));
  if (costly.length > 0) console.log(`\n${head}:`);
  for (const test of costly.slice(0, COSTLY_TESTS))
    console.log(
      `${String(Math.round(costOf(test))).padStart(5)} ${unit}  ${test.file} (${test.part.name}): ${test.title}`,
    );
}
