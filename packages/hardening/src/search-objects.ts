import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Canary } from './canary.ts';
import { findCanaries } from './find-canaries.ts';

/** Every object of every store below a state directory, reachable or not. Compressed, they are invisible to a search of files. */
export function searchObjects(canaries: readonly Canary[], stateDirectory: string): readonly string[] {
  const repositories = join(stateDirectory, 'repos');
  if (!existsSync(repositories)) return [];
  return readdirSync(repositories)
    .map((name) => join(repositories, name, 'store.git'))
    .filter((store) => existsSync(store))
    .flatMap((store) => {
      const objects = execFileSync('git', ['--git-dir', store, 'cat-file', '--batch-all-objects', '--batch'], {
        env: { PATH: '/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
        maxBuffer: 2 ** 30,
      });
      return findCanaries(canaries, `an object of ${store}`, objects);
    });
}
