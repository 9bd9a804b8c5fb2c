import { expect, it } from '@jest/globals';
import { CliFixture } from './cli-fixture.ts';

const LIMIT_KIB = 300e6 / 1024;
const reporter = new URL('report-peak.mjs', import.meta.url).href;
const peak = (stderr: string): number => Number(/peak (\d+) KiB/.exec(stderr)?.[1] ?? Number.NaN);

it('holds less than 300 MB while it records 80,000 files, and while it records one of 500 MB', async () => {
  await using fixture = new CliFixture();
  await fixture.run(['create', 'big']);
  const environment = { NODE_OPTIONS: `--import ${reporter}` };
  const many = `i=0; while [ $i -lt 400 ]; do
    mkdir d$i; j=0; while [ $j -lt 200 ]; do echo "file $j of $i" >d$i/f$j; j=$((j + 1)); done; i=$((i + 1)); done`;
  const files = await fixture.run(['run', 'big', '--timeout', '10m', many], undefined, environment);
  expect({ code: files.code, stderr: files.stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('revision 1: 80000 files'),
  });
  expect(peak(files.stderr)).toBeLessThan(LIMIT_KIB);
  const file = await fixture.run(
    ['run', 'big', '--timeout', '10m', 'seq 60000000 | head -c 500000000 >big'],
    undefined,
    environment,
  );
  expect({ code: file.code, stderr: file.stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('big is new and 477 MiB large'),
  });
  expect(peak(file.stderr)).toBeLessThan(LIMIT_KIB);
  // Positive control: what is measured is the process, and it does grow.
  expect(peak(files.stderr)).toBeGreaterThan(50 * 1024);
});
