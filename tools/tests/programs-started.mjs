import childProcess from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';

let started = 0;

// Node tells of those that it does not wait for; the others are counted on their way.
subscribe('child_process', () => {
  started += 1;
});
for (const name of ['execFileSync', 'execSync', 'spawnSync']) {
  const original = childProcess[name];
  childProcess[name] = (...given) => {
    started += 1;
    return original(...given);
  };
}

/** How many programs this process has started since it loaded this file; not what those start in their turn. */
export const programsStarted = () => started;
