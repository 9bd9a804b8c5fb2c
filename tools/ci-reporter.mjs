import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

const MAX_MESSAGE_LINES = 30;

/** What failed, each as its file, its title and the start of its message: the log of a long run is often cut. */
function failuresOf(results) {
  const failures = [];
  for (const file of results.testResults) {
    const named = file.testResults.filter((test) => test.status === 'failed');
    for (const test of named) failures.push([file.testFilePath, test.fullName, ...test.failureMessages]);
    if (named.length === 0 && file.failureMessage) failures.push([file.testFilePath, file.failureMessage]);
  }
  return failures.map((parts) => parts.join('\n').split('\n').slice(0, MAX_MESSAGE_LINES).join('\n'));
}

const SLOW_SECONDS = 20;

/** Where a run's time went, for whoever wants the next one to be shorter. */
function slowOnes(results) {
  return results.testResults
    .map(({ testFilePath, perfStats }) => ({
      file: relative(process.cwd(), testFilePath).replace(/^(\.\.\/)+/, ''),
      seconds: Math.round((perfStats.end - perfStats.start) / 1000),
    }))
    .filter(({ seconds }) => seconds >= SLOW_SECONDS);
}

/**
 * Closes a jest run with one plain line: "N passed, N failed, N skipped".
 *
 * When LITTERBOX_TEST_COUNTS names a file, the counts go there as a JSON line instead, with what failed, and whoever
 * sums the file prints the one line.
 */
export default class CiReporter {
  onRunComplete(_contexts, results) {
    const counts = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    const file = process.env['LITTERBOX_TEST_COUNTS'];
    if (file)
      appendFileSync(
        file,
        `${JSON.stringify({ ...counts, failures: failuresOf(results), slow: slowOnes(results) })}\n`,
      );
    else process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  }
}
