import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LitterboxError } from '@litterbox/core/agent';
import { ownProgram } from './own-program.ts';

/** How long a keeper may take until its ports are open. */
const START_MS = 30_000;
/**
 * Starts `litterbox keep` for a sandbox as a program of its own, and returns when it says that it keeps, or that another one does.
 *
 * @param variables those that it gets besides: no other secret of this program is of use to it
 */
export async function launchKeeper(id: string, variables: readonly string[] = []): Promise<void> {
  const { args, env } = ownProgram(id, variables);
  const child = spawn(process.execPath, args, {
    cwd: '/',
    env,
    detached: true, // no terminal and no signal of ours reaches it
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await once(child, 'spawn').catch((cause: Error) => {
    throw notLaunched(cause.message);
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const outcome = await Promise.race([
    new Promise<'ready'>((resolve) => child.stdout.once('data', () => resolve('ready'))),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
    new Promise<'late'>((resolve) => (timer = setTimeout(resolve, START_MS, 'late'))),
  ]);
  clearTimeout(timer);
  child.unref();
  child.stdout.destroy();
  child.stderr.destroy();
  if (outcome === 'ready' || outcome === 0) return;
  throw notLaunched(outcome === 'late' ? 'it did not answer' : said.trim());
}

const notLaunched = (reason: string) =>
  new LitterboxError('UNAVAILABLE', `Litterbox could not start the program that keeps services and ports: ${reason}.`, {
    operation: 'keeper.launch',
    hint: 'Try again; if it happens again, run litterbox doctor.',
  });
