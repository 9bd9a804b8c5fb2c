import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { AgentRun } from '@litterbox/agents';
import { LitterboxError, shown } from '@litterbox/core';
import { ownPath } from '../agents/own-path.ts';
import type { Context } from '../context.ts';
import { table } from '../terminal/table.ts';

/** At once: each is a program with a model, in a sandbox of its own. */
const MAX_AGENTS = 16;

/** The end of one of several. */
type Ended =
  | ({ readonly sandbox: string; readonly changedFiles: number } & Pick<
      AgentRun,
      'exitCode' | 'endedBy' | 'durationMs' | 'tokens'
    >)
  | { readonly sandbox: string; readonly exitCode: number; readonly error: { readonly message: string } };

/** @throws LitterboxError `ARG_RANGE` */
export function countOf(given: string | undefined): number {
  const count = given === undefined ? 1 : Number(given);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_AGENTS) return count;
  throw new LitterboxError('ARG_RANGE', `--number ${shown(given)} is not from 1 to ${MAX_AGENTS}.`, {
    operation: 'cli.parse',
    hint: 'Say how many agents work at once, each in a sandbox of its own.',
  });
}

/**
 * The same prompt for several, each a `litterbox agent run` of its own: who stops or looks at one has that one alone.
 *
 * @param names of the sandboxes, which are not there yet
 * @param args what each is told besides: the agent, options, and the prompt after `--`
 */
export async function runSeveral(
  { talk, directory, signal }: Context,
  title: string,
  names: readonly string[],
  args: { readonly options: readonly string[]; readonly prompt: string; readonly id: string },
): Promise<void> {
  talk.notice(`Starting ${title} in ${names.join(', ')}. To see one at work: litterbox agent logs ${names[0]}.`);
  talk.endProgress();
  const working = names.map(async (name): Promise<Ended> => {
    const { id, options, prompt } = args;
    const words = [ownPath(), 'agent', 'run', id, '--json', '--sandbox', name, ...options, '--', prompt];
    const child = spawn(process.execPath, words, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
    const end = () => void child.kill('SIGTERM');
    signal.addEventListener('abort', end, { once: true });
    const closed = once(child, 'close');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    signal.removeEventListener('abort', end);
    const ended = endedOf(name, child.exitCode ?? 1, stdout, stderr);
    talk.notice('error' in ended ? `${name}: ${ended.error.message}` : `${name}: ${endText(ended)}.`);
    return ended;
  });
  const all = await Promise.all(working);
  process.exitCode = all.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0;
  if (talk.json) return talk.document(all);
  talk.result(table(['SANDBOX', 'ENDED', 'FILES', 'TOKENS'], all.map(row), process.stdout.isTTY));
  if (all.some((ended) => !('error' in ended)))
    talk.notice('Compare them: litterbox review. Take one: litterbox merge NAME.');
}

function endedOf(sandbox: string, exitCode: number, stdout: string, stderr: string): Ended {
  try {
    return JSON.parse(stdout) as Ended;
  } catch {
    const [line = ''] = stderr.split('\n').filter((one) => one.startsWith('{"error"'));
    const message = line === '' ? `ended with exit code ${exitCode}` : messageOf(line);
    return { sandbox, exitCode, error: { message } };
  }
}

const messageOf = (line: string) => (JSON.parse(line) as { error: { message: string } }).error.message;

function endText({ exitCode, endedBy, durationMs }: Exclude<Ended, { readonly error: unknown }>): string {
  const how = {
    itself: '',
    'after-end': '',
    'time-limit': ' at its time limit',
    silence: ' by silence',
    stop: ' by hand',
  };
  return `ended${how[endedBy]} after ${Math.max(1, Math.round(durationMs / 1000))} s with exit code ${exitCode}`;
}

function row(ended: Ended): string[] {
  if ('error' in ended) return [ended.sandbox, ended.error.message, '', ''];
  const { sandbox, changedFiles, tokens } = ended;
  return [sandbox, endText(ended), String(changedFiles), tokens ? String(tokens.input + tokens.output) : ''];
}
