import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { inheritedDescriptors } from '../../packages/host/src/inherited-descriptors.ts';

// The product keeps what its caller left open away from each program by a shell before it. Closed here once, that shell runs where a test
// is about it, and not in front of thousands of programs.
for (const descriptor of inheritedDescriptors()) closeSync(descriptor);

/** Commands that are running now, each with the process group that ends with it. */
const groups = new Set();

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const group of groups) endGroup(group, 'SIGKILL');
    process.kill(process.pid, signal);
  });

/**
 * Runs a command in a process group of its own, with its output appended to a file, and ends the group after the limit: a test that
 * never ends is a failure, not a run without an end.
 *
 * @param {readonly [string, ...string[]]} command
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, log: string, limitSeconds: number }} options
 * @returns {Promise<{ code: number, isLate: boolean }>}
 */
export async function runCommand([program, ...args], { cwd, env, log, limitSeconds }) {
  const output = openSync(log, 'a');
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', output, output], detached: true });
  closeSync(output);
  groups.add(child.pid);
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    endGroup(child.pid, 'SIGTERM');
    setTimeout(() => endGroup(child.pid, 'SIGKILL'), 30_000).unref();
  }, limitSeconds * 1000);
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (status) => resolve(status ?? 137));
  });
  clearTimeout(limit);
  groups.delete(child.pid);
  return { code, isLate };
}

function endGroup(group, signal) {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
