import { ALWAYS_LEAN, type Approver } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** What carries out operations with every provider that comes along; loaded only by commands that need it. */
export async function loadLitterbox(repo: string, approver: Approver): Promise<Performer> {
  const [{ createPerformer }, { PROVIDERS, userHosts }] = await Promise.all([
    import('litterbox/performer'),
    import('@litterbox/providers'),
  ]);
  return createPerformer({
    repo,
    providers: PROVIDERS,
    openHosts: userHosts,
    actor: 'cli',
    approver,
    environment: process.env,
    parts: { heap: ALWAYS_LEAN }, // bin.ts has set the flags for good
    launchKeeper: async (id) => await (await import('@litterbox/mcp/start')).launchKeeper(id),
    launchFiller: async (root) => await (await import('@litterbox/mcp/start')).launchFiller(root),
  });
}
