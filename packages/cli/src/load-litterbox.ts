import type { Approver } from '@litterbox/core';
import type { Litterbox } from 'litterbox';

/** Opens the façade with every provider that comes along; loaded only by commands that need it. */
export async function loadLitterbox(repo: string, approver: Approver): Promise<Litterbox> {
  const [{ createLitterbox }, { loadProviders }] = await Promise.all([
    import('litterbox'),
    import('./load-providers.ts'),
  ]);
  return createLitterbox({ repo, providers: await loadProviders(), actor: 'cli', approver, environment: process.env });
}
