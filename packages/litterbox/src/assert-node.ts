import { LitterboxError } from '@litterbox/core';

const LOWEST = [22, 19] as const;

/** @throws LitterboxError `UNSUPPORTED` when this Node is too old to have SQLite. */
export function assertNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > LOWEST[0] || (major === LOWEST[0] && minor >= LOWEST[1])) return;
  throw new LitterboxError('UNSUPPORTED', `Litterbox needs Node ${LOWEST.join('.')} or newer; this is ${version}.`, {
    operation: 'litterbox.open',
    hint: 'Install a newer one: npm install --global node@24 brings it.',
  });
}
