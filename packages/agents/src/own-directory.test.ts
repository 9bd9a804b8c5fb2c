import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ownDirectory } from './own-directory.ts';

test('what a killed process left goes when the next one begins; what a living one has, and what is not ours, stays', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'litterbox-own-'));
  try {
    const { pid: dead } = spawnSync('true');
    const kept = [`litterbox-seat-${process.ppid}-abc`, `other-${dead}-abc`, `litterbox-seat-${dead}`];
    for (const name of [`litterbox-seat-${dead}-abc`, `litterbox-trial-${dead}-abc`, ...kept]) {
      mkdirSync(join(parent, name));
      writeFileSync(join(parent, name, 'file'), '');
    }
    const own = await ownDirectory('seat', parent);
    expect(readdirSync(parent).sort()).toEqual([...kept, basename(own)].sort());
    expect([basename(own).startsWith(`litterbox-seat-${process.pid}-`), statSync(own).mode & 0o777]).toEqual([
      true,
      0o700,
    ]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});
