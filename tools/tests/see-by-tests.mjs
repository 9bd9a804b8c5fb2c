import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './test-files.mjs';

/** Where the tests are of faults that do not say so. */
const ATTACKS = 'packages/hardening/test/attacks/';
/** The engine of the tests, not that of who runs them. */
const DOCKER_HOST = 'unix:///var/lib/litterbox-test/run/docker.sock';

/**
 * Runs single tests in a copy of the checkout, for faults that each of them has to see.
 *
 * @param {string} copy
 */
export function seeByTests(copy) {
  return {
    redWithout: (faults) =>
      [...new Set(faults.map(({ at }) => at))].flatMap((at) => {
        const all = [...new Set(faults.filter((fault) => fault.at === at).flatMap(({ tests }) => tests))];
        const ran = run(copy, all, at);
        return ran.failed === 0 && ran.passed >= all.length ? [] : [`as it is: ${wordsOf(ran)}`];
      }),
    see({ tests, at }) {
      const ran = run(copy, tests, at);
      return {
        isSeen: ran.passed === 0 && ran.failed === tests.length,
        how: `${wordsOf(ran)} (${tests.join(', ')})`,
      };
    },
  };
}

/** @returns {{ passed: number, failed: number, output: string }} `failed` is -1 where none ran */
function run(copy, tests, at = ATTACKS) {
  const results = join(copy, 'results');
  writeFileSync(results, '');
  const pattern = tests.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const jest = [
    join(ROOT, 'node_modules/jest/bin/jest.js'),
    '-c',
    'jest.config.mjs',
    '--selectProjects',
    at.split('/')[1],
  ];
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [...jest, '--runInBand', '--testPathPatterns', at, '-t', `(^| )(${pattern})`],
    {
      cwd: copy,
      encoding: 'utf8',
      timeout: 3_600_000, // all of them on a busy machine
      env: {
        ...process.env,
        DOCKER_HOST,
        ...(at.startsWith('packages/litterbox/') && { LITTERBOX_TEST_PROVIDER: 'docker' }), // only images are installed into
        NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
        LITTERBOX_TEST_RESULTS: results,
        LITTERBOX_JEST_CACHE: join(copy, 'cache'),
      },
    },
  );
  // One row for each file, those too of which no test is among them.
  const rows = readFileSync(results, 'utf8').split('\n').filter(Boolean);
  const sums = { passed: 0, failed: rows.length === 0 ? -1 : 0 };
  for (const row of rows.map((text) => JSON.parse(text))) {
    sums.passed += row.passed;
    sums.failed += row.failed;
  }
  return { ...sums, output: stdout + stderr };
}

function wordsOf({ passed, failed, output }) {
  if (failed < 0) return `none ran:\n${output.slice(-2000)}`;
  const reasons = [
    ...output.matchAll(/^ +[+-] (?!Expected|Received) +(.+)$|^ +(Expected.*:.*|Received.*:.*|\w*Error: .*)$/gm),
  ];
  const shown = reasons.slice(0, 2).map(([line]) => line.trim().slice(0, 100));
  return `${failed} failed, ${passed} passed${shown.length > 0 ? `: ${shown.join(' … ')}` : ''}`;
}
