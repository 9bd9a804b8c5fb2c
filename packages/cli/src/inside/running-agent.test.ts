import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { RunningAgent } from './running-agent.ts';

it('FC-466: a process that has the number of one that was killed is not its agent', () => {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-agent-'));
  try {
    const path = join(directory, 'pid');
    {
      using _running = RunningAgent.begin(directory);
      expect(RunningAgent.isAtWork(directory)).toBe(true);
      const [pid, began] = readFileSync(path, 'utf8').split(' ');
      expect(RunningAgent.pidOf(directory)).toBe(Number(pid));
      expect([RunningAgent.claimStop(directory), RunningAgent.claimStop(directory)]).toEqual([true, false]);
      writeFileSync(path, `1 ${began}`);
      expect(RunningAgent.isAtWork(directory)).toBe(false);
      expect(RunningAgent.claimStop(directory)).toBe(true); // of another process
    }
    expect(RunningAgent.isAtWork(directory)).toBe(false);
    expect(RunningAgent.pidOf(directory)).toBe(undefined);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
