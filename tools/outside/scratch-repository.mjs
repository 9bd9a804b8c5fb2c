import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.mjs';

/** A repository with one commit of one file, `file`, with one line, `one`. Gives its path. */
export async function scratchRepository(directory, env) {
  mkdirSync(directory);
  writeFileSync(join(directory, 'file'), 'one\n');
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'one'],
  ])
    await command(['git', ...words], { cwd: directory, env });
  return directory;
}
