import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { LibraryFixture } from './library-fixture.ts';

const LIMIT_KIB = 300e6 / 1024;
const EMBEDDER = new URL('embedder.ts', import.meta.url).pathname;
const INTEGRATING = ['milestone', 'worktree', 'merge'];

interface Step {
  readonly step: string;
  readonly peakKiB: number;
}

async function stepsOf(what: 'many' | 'large'): Promise<readonly Step[]> {
  await using fixture = new LibraryFixture();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', EMBEDDER, fixture.repository, fixture.stateDirectory, what],
    { env: { PATH: process.env['PATH'], HOME: fixture.stateDirectory } }, // as it is: no flags of V8, and not those of this run
  );
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Step);
}

describe('a program that embeds the library holds less than 300 MB', () => {
  it('with 80,000 files', async () => {
    const steps = await stepsOf('many');
    expect(steps.map(({ step }) => step)).toEqual([
      'create',
      'record',
      'restore nothing',
      'restore all',
      'changes',
      'plan',
      ...INTEGRATING,
    ]);
    expect(steps.filter(({ peakKiB }) => !(peakKiB < LIMIT_KIB))).toEqual([]);
    // Positive control: it is this program that was measured, and it does grow.
    expect((steps.at(-1)?.peakKiB ?? 0) - (steps[0]?.peakKiB ?? 0)).toBeGreaterThan(30 * 1024);
  }, 600_000);

  it('with a file of 500 MB', async () => {
    const steps = await stepsOf('large');
    expect(steps.map(({ step }) => step)).toEqual(['create', 'record', ...INTEGRATING]);
    expect(steps.filter(({ peakKiB }) => !(peakKiB < LIMIT_KIB))).toEqual([]);
  }, 600_000);
});
