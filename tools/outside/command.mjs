import { spawn } from 'node:child_process';

/** Most of what a command says that is kept, in characters. */
const KEPT = 400_000;

/**
 * Runs a program to its end and gives what it said on both outputs.
 *
 * @param {string[]} argv
 * @param {{ cwd: string, env: Record<string, string>, limitMs?: number, status?: number }} options `status`: the one that is wanted
 * @throws Error with the end of what it said, when it ends otherwise or not in time; whatever it started is killed then
 */
export async function command(argv, { cwd, env, limitMs = 120_000, status = 0 }) {
  const [program, ...words] = argv;
  const child = spawn(program, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-KEPT);
    });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    if (child.pid !== undefined) killGroup(child.pid);
  }, limitMs);
  const ended = await new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal));
  }).finally(() => clearTimeout(timer));
  if (ended === status) return said;
  const how = isLate ? `did not end within ${limitMs / 1000} s` : `ended with ${ended}, not ${status}`;
  throw new Error(`${argv.join(' ')} ${how}:\n${said.split('\n').slice(-40).join('\n')}`);
}

function killGroup(leader) {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // it ended by itself just now
  }
}
