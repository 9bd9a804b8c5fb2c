import { appendFileSync } from 'node:fs';

/**
 * Closes a jest run with one plain line: "N passed, N failed, N skipped".
 *
 * When LITTERBOX_TEST_COUNTS names a file, the counts go there as a JSON line instead, and whoever sums the
 * file prints the one line.
 */
export default class CiReporter {
  onRunComplete(_contexts, results) {
    const counts = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    const file = process.env['LITTERBOX_TEST_COUNTS'];
    if (file) appendFileSync(file, `${JSON.stringify(counts)}\n`);
    else process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  }
}
