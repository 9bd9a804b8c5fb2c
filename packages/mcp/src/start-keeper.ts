import { ALWAYS_LEAN, KeepSandbox, LitterboxError, SandboxId } from '@litterbox/core/agent';
import { providersFor, userHosts } from '@litterbox/providers';
import { openForAgents } from 'litterbox/agent';

/** The program that keeps one sandbox: its services run and its ports are open as long as it lives. Says `ready` when they are. */
export async function startKeeper([id = '']: readonly string[]): Promise<void> {
  if (!SandboxId.is(id))
    throw new LitterboxError('ARG_TYPE', 'Want the id of one sandbox.', { operation: 'keeper.start' });
  process.stdout.on('error', () => {}); // who started it is gone by now
  const litterbox = openForAgents({
    repo: '/',
    providers: providersFor(process.env), // who started it has looked where they are
    openHosts: userHosts,
    actor: 'keeper',
    parts: { heap: ALWAYS_LEAN }, // start.ts has set the flags for good
  });
  try {
    const { useCases } = await litterbox.wired();
    const kept = await useCases.get(KeepSandbox).keep(id);
    if (!kept) return; // somebody else keeps it
    const end = () => void litterbox[Symbol.asyncDispose]();
    process.once('SIGTERM', end).once('SIGINT', end);
    process.on('SIGHUP', () => {}); // the terminal that it was started from has closed
    process.stdout.write('ready\n');
    await kept.done;
  } finally {
    await litterbox[Symbol.asyncDispose]();
  }
}
