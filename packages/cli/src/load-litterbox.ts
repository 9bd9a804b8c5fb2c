import { ALWAYS_LEAN, type Approver } from '@litterbox/core';
import type { Litterbox } from 'litterbox';
import type { LitterboxOptions, Performer } from 'litterbox/performer';

/** What carries out operations with every provider that comes along; loaded only by commands that need it. */
export async function loadLitterbox(repo: string, approver: Approver): Promise<Performer> {
  const [{ createPerformer }, options] = await Promise.all([
    import('litterbox/performer'),
    optionsFor(repo, approver, 'cli'),
  ]);
  return createPerformer(options);
}

/** The same with a method for each operation, for an agent whose hands are methods of a sandbox. */
export async function loadForAgent(repo: string, approver: Approver, agent: string): Promise<Litterbox> {
  const [{ createLitterbox }, options] = await Promise.all([import('litterbox'), optionsFor(repo, approver, agent)]);
  return createLitterbox(options);
}

/**
 * The same for programs that make sandboxes of their own.
 *
 * @param isEmpty their sandboxes begin without the repository
 */
export async function loadForPrograms(repo: string, isEmpty: boolean, actor: string): Promise<Litterbox> {
  const nobody = { approve: async () => false };
  const [{ createLitterbox }, options] = await Promise.all([import('litterbox'), optionsFor(repo, nobody, actor)]);
  return createLitterbox(isEmpty ? { ...options, repo: false } : options);
}

async function optionsFor(repo: string, approver: Approver, actor: string): Promise<LitterboxOptions> {
  const { providersFor, userHosts } = await import('@litterbox/providers');
  return {
    repo,
    providers: providersFor(process.env, repo),
    openHosts: userHosts,
    actor,
    approver,
    environment: process.env,
    parts: { heap: ALWAYS_LEAN }, // bin.ts has set the flags for good
    launchKeeper: async (...what) => await (await import('@litterbox/mcp/start')).launchKeeper(...what),
  };
}
