import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a program of the host prints; this program goes on answering meanwhile. */
export async function said([program, ...args]: readonly [string, ...string[]]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
  await once(child, 'close');
  return text;
}
