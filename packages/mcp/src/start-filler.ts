import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { ALWAYS_LEAN, FillPool, isLitterboxError, LitterboxError, OpenRepository } from '@litterbox/core/agent';
import { providersFor, userHosts } from '@litterbox/providers';
import { openForAgents } from 'litterbox/agent';

/** The program that fills the pool of one repository and ends when it is full, or when another one is at it. */
export async function startFiller([root = '']: readonly string[]): Promise<void> {
  if (!root.startsWith('/'))
    throw new LitterboxError('ARG_TYPE', 'Want the root of one repository.', { operation: 'pool.start' });
  closeInherited();
  await using litterbox = openForAgents({
    repo: root,
    providers: providersFor(process.env, root),
    openHosts: userHosts,
    actor: 'filler',
    environment: process.env,
    parts: { heap: ALWAYS_LEAN }, // start.ts has set the flags for good
  });
  const end = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end.abort());
  process.on('SIGHUP', () => {}); // the terminal that it was started from has closed
  const { useCases, parts } = await litterbox.wired();
  try {
    await useCases.get(FillPool).refill({ signal: end.signal });
  } catch (error) {
    if (end.signal.aborted || isLitterboxError(error, 'BUSY')) return; // who fills looks again before it ends
    // Nobody waits for this program: who wonders reads the events.
    const { id } = await useCases.get(OpenRepository).open();
    const code = isLitterboxError(error) ? error.code : 'INTERNAL';
    const message = error instanceof Error ? error.message : String(error);
    await parts.state.publish({ type: 'pool-fill-failed', repositoryId: id, data: { code, message } });
    throw error;
  }
}

/** The kernel's O_CLOEXEC as `/proc/self/fdinfo` shows it, octal. Node opens all its own with it. */
const CLOSE_ON_EXEC = 0o2000000;

/** Whoever waits for the end of a file that it left open to us must not wait for this program. */
function closeInherited(): void {
  for (const descriptor of readdirSync('/proc/self/fd').map(Number)) {
    if (descriptor <= 2) continue;
    try {
      const [, flags = ''] = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
      if ((Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) closeSync(descriptor);
    } catch {
      // the descriptor of the directory just read: closed again
    }
  }
}
