import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { AgentLog } from './agent-log.ts';

const MIB = 2 ** 20;

it('keeps and follows the last of what an agent printed, bounded, and nothing once it was removed', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'litterbox-log-'));
  const directory = join(parent, 'agent');
  try {
    using log = AgentLog.begin(directory);
    const part = (letter: string) => Buffer.alloc(3 * MIB, letter);
    for (const letter of 'abcdefg') log.write(part(letter));
    const kept = Buffer.concat(AgentLog.read(directory));
    expect(kept.equals(Buffer.concat(['e', 'f', 'g'].map(part)))).toBe(true);
    let isAtWork = true;
    const parts: Uint8Array[] = [];
    for await (const bytes of AgentLog.follow(directory, () => isAtWork, AbortSignal.timeout(10_000))) {
      parts.push(bytes);
      if (Buffer.concat(parts).length === 9 * MIB) {
        log.write(part('h')); // the older half goes
        log.write(part('i'));
      } else if (bytes[0] === 105) isAtWork = false;
    }
    expect(Buffer.concat(parts).equals(Buffer.concat(['e', 'f', 'g', 'h', 'i'].map(part)))).toBe(true);
    expect(statSync(join(directory, 'log')).mode & 0o777).toBe(0o600);
    rmSync(directory, { recursive: true });
    for (const letter of 'hijk') log.write(part(letter));
    expect(readdirSync(parent)).toEqual([]);
    expect(AgentLog.read(directory)).toEqual([]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});
