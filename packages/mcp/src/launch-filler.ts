import { spawn } from 'node:child_process';
import { LitterboxError } from '@litterbox/core/agent';
import { ownProgram } from './own-program.ts';

/** Starts `litterbox fill` for the repository with that root as a program of its own, and does not wait for it. */
export async function launchFiller(repositoryRoot: string): Promise<void> {
  const { args, env } = ownProgram('fill', repositoryRoot);
  const child = spawn(process.execPath, args, { cwd: '/', env, detached: true, stdio: 'ignore' });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) =>
      reject(
        new LitterboxError(
          'UNAVAILABLE',
          `Litterbox could not start the program that fills the pool: ${cause.message}.`,
          { operation: 'pool.launch', hint: 'Fill it: litterbox pool --fill.' },
          { cause },
        ),
      ),
    );
  });
  child.unref();
}
