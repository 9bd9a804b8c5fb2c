import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { programsStarted } from './programs-started.mjs';

const MAX_MESSAGE_LINES = 30;

/**
 * Writes one JSON line for each test file as soon as it has ended, into the file that `LITTERBOX_TEST_RESULTS` names. A run that is
 * killed half-way has told by then what it had done. Without the variable it closes the run with the one plain line that CI reads.
 *
 * A test that the run's own title pattern left out is not counted. A test that is skipped is.
 */
export default class ResultsReporter {
  #pattern;
  /** Programs that had been started when the test that runs now began, and how many each test of the file started, by its title. */
  #startedBefore = 0;
  #programs = new Map();

  constructor(config) {
    this.#pattern = config.testNamePattern ? new RegExp(config.testNamePattern, 'i') : undefined;
  }

  onTestCaseStart() {
    this.#startedBefore = programsStarted();
  }

  onTestCaseResult(_test, { fullName }) {
    this.#programs.set(fullName, programsStarted() - this.#startedBefore);
  }

  onTestResult(_test, result) {
    const file = process.env['LITTERBOX_TEST_RESULTS'];
    if (file) appendFileSync(file, `${JSON.stringify(this.#rowOf(result))}\n`);
    this.#programs.clear();
  }

  onRunComplete(_contexts, results) {
    if (process.env['LITTERBOX_TEST_RESULTS']) return;
    const rows = results.testResults.map((result) => this.#rowOf(result));
    const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
    process.stdout.write(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`);
  }

  #rowOf(result) {
    const tests = result.testResults.filter(({ fullName }) => this.#pattern?.test(fullName) ?? true);
    const failed = tests.filter(({ status }) => status === 'failed');
    const passed = tests.filter(({ status }) => status === 'passed');
    // A file that could not be run, or an `afterAll` that threw, has a message and no test that failed.
    const isBroken = failed.length === 0 && Boolean(result.failureMessage);
    return {
      file: relative(process.cwd(), result.testFilePath),
      passed: passed.length,
      failed: failed.length + (isBroken ? 1 : 0),
      skipped: tests.length - passed.length - failed.length,
      seconds: Math.round((result.perfStats.end - result.perfStats.start) / 100) / 10,
      failures: isBroken
        ? [{ title: '', message: firstLines(result.failureMessage) }]
        : failed.map((test) => ({ title: test.fullName, message: firstLines(test.failureMessages.join('\n')) })),
      tests: tests.map(({ fullName, duration }) => ({
        title: fullName,
        milliseconds: duration ?? 0,
        programs: this.#programs.get(fullName) ?? 0,
      })),
    };
  }
}

const firstLines = (text) => text.split('\n').slice(0, MAX_MESSAGE_LINES).join('\n');
