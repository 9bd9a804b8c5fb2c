import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { AgentLog } from './agent-log.ts';

const MIB = 2 ** 20;

it('keeps the last of what an agent printed, bounded, and nothing once it was removed with its sandbox', () => {
  const parent = mkdtempSync(join(tmpdir(), 'litterbox-log-'));
  const directory = join(parent, 'agent');
  try {
    using log = AgentLog.begin(directory);
    const part = (letter: string) => Buffer.alloc(3 * MIB, letter);
    for (const letter of 'abcdefg') log.write(part(letter));
    const kept = Buffer.concat(AgentLog.read(directory));
    expect(kept.equals(Buffer.concat(['e', 'f', 'g'].map(part)))).toBe(true);
    expect(statSync(join(directory, 'log')).mode & 0o777).toBe(0o600);
    rmSync(directory, { recursive: true });
    for (const letter of 'hijk') log.write(part(letter));
    expect(readdirSync(parent)).toEqual([]);
    expect(AgentLog.read(directory)).toEqual([]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});
