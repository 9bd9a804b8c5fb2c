import { spawn } from 'node:child_process';
import { LitterboxError } from '@litterbox/core';
import { personsPath } from './person/persons-path.ts';

/** Opens an address in the browser of the person. @throws LitterboxError `TOOL_MISSING` */
export async function browse(url: string, directory: string): Promise<void> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const env = { ...process.env, PATH: personsPath(process.env['PATH'], directory) };
  const child = spawn(program, [url], { stdio: 'ignore', detached: true, env });
  const failure = await new Promise<Error | undefined>((resolve) => {
    child.once('error', resolve);
    child.once('spawn', () => resolve(undefined));
  });
  child.unref();
  if (!failure) return;
  throw new LitterboxError('TOOL_MISSING', `Litterbox cannot open a browser: ${program} is not installed.`, {
    operation: 'cli.browse',
    hint: `Open ${url} yourself.`,
  });
}
