import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { VmProgram } from '../src/vm-program.ts';
import { FakePrograms } from './fake-programs.ts';

let directory = '';
let programs: FakePrograms;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'litterbox-vm-'));
  programs = new FakePrograms(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const program = () => new VmProgram(programs.host, 'limactl');

test('one that never ends is UNAVAILABLE after its time', async () => {
  programs.add('limactl', 'exec sleep 1000');
  await expect(program().ask(['list', '--json'], { limitMs: 100 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'limactl list did not end within 0.1 seconds.',
    details: { hint: 'Run it by hand, and see what it waits for: limactl list --json.' },
  });
});

test('what a machine leaves in the background with the pipes of who started it holds nobody up', async () => {
  programs.add('limactl', 'setsid sleep 1000 & echo $!');
  const answer = await program().ask(['start']);
  const left = Number(new TextDecoder().decode(answer?.stdout));
  expect(answer?.code).toBe(0);
  expect(() => process.kill(left, 0)).not.toThrow(); // it is the machine, and goes on
  process.kill(left, 'SIGKILL');
});

test('lines are told as they come, without what a terminal would do', async () => {
  programs.add('limactl', "printf 'one\\n\\033[2Jtwo\\n\\nthree'");
  const lines: string[] = [];
  await program().ask(['start'], { onLine: (line) => lines.push(line) });
  expect(lines).toEqual(['one', '\\x1b[2Jtwo']);
});

test('one that is not installed is nothing, and one that says 127 itself is told', async () => {
  expect(await program().ask(['list'])).toBeUndefined();
  programs.add('limactl', 'echo broken; exit 127');
  expect(await program().ask(['list'])).toMatchObject({ code: 127 });
});
