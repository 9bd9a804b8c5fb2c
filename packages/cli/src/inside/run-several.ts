import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { AgentRun } from '@litterbox/agents';
import { isLitterboxError, type JudgedSandbox, judgeSandboxes, quoted } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';
import { ownPath } from '../agents/own-path.ts';
import type { Context } from '../context.ts';
import { table } from '../terminal/table.ts';
import type { NamedRacer } from './racers.ts';

/** The end of one of several. */
type Ended =
  | ({ readonly sandbox: string; readonly changedFiles: number } & Pick<
      AgentRun,
      'exitCode' | 'endedBy' | 'durationMs' | 'tokens'
    >)
  | { readonly sandbox: string; readonly exitCode: number; readonly error: ErrorDocument };

/** As a command prints it with `--json`. */
interface ErrorDocument {
  readonly code?: string;
  readonly message: string;
  readonly hint?: string;
}

/** Given to each of several. */
interface Common {
  /** Options of the command line that each gets as well. */
  readonly options: readonly string[];
  /** Runs in each sandbox once all have ended. */
  readonly judge: string | undefined;
}

/**
 * Several agents at work, each by a `litterbox agent run` of its own: who stops or looks at one has that one alone. They are ranked where there
 * is a judge.
 */
export async function runSeveral(
  context: Context,
  litterbox: Pick<Performer, 'perform'>,
  racers: readonly NamedRacer[],
  { options, judge }: Common,
): Promise<void> {
  const { talk } = context;
  const names = racers.map(({ sandbox }) => sandbox);
  talk.notice(`Starting agents in ${names.join(', ')}. To see one at work: litterbox agent logs ${names[0]}.`);
  talk.endProgress();
  const all = await Promise.all(racers.map(async (racer) => await runOne(context, racer, options)));
  const isAnyThere = all.some((ended) => !('error' in ended));
  if (judge === undefined) {
    process.exitCode = all.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0;
    if (talk.json) return talk.document(all);
    talk.result(table(['SANDBOX', 'ENDED', 'FILES', 'TOKENS'], all.map(row), process.stdout.isTTY));
    if (isAnyThere) talk.notice('Compare them: litterbox review. Take one: litterbox merge NAME.');
    return;
  }
  const { ranked, winner } = await judged(context, litterbox, all, judge);
  for (const { sandbox, judgement } of ranked)
    if (judgement?.error) talk.warning(`${sandbox}: ${judgement.error.message}`);
  process.exitCode = winner === undefined ? 1 : 0;
  if (talk.json) return talk.document(ranked);
  const rows = ranked.map((one) => [...judgeColumns(one), ...row(one)]);
  talk.result(table(['JUDGE', 'SCORE', 'SANDBOX', 'ENDED', 'FILES', 'TOKENS'], rows, process.stdout.isTTY));
  if (winner !== undefined)
    return talk.notice(`${winner} won. Look: litterbox diff ${winner}. Take it: litterbox merge ${winner}.`);
  const [best] = ranked;
  if (isAnyThere && best)
    talk.notice(`None passed. To see what the judge prints: litterbox run ${best.sandbox} ${quoted(judge)}.`);
}

async function runOne(
  { talk, directory, signal }: Context,
  { id, prompt, sandbox }: NamedRacer,
  options: readonly string[],
): Promise<Ended> {
  const words = [ownPath(), 'agent', 'run', id, '--json', '--sandbox', sandbox, ...options, '--', prompt];
  // In a group of its own: Ctrl-C of a terminal would be its first signal and ours the second, at which it ends half-way.
  const child = spawn(process.execPath, words, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // it ends with the channel, should this program be killed
    detached: true,
  });
  const { stdout: output, stderr: errors } = child;
  if (!output || !errors) throw new Error('A program of several has no output.');
  const end = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(output), text(errors), closed]);
  signal.removeEventListener('abort', end);
  const ended = endedOf(sandbox, child.exitCode ?? 1, stdout, stderr);
  talk.notice('error' in ended ? `${sandbox}: ${ended.error.message}` : `${sandbox}: ${endText(ended)}.`);
  return ended;
}

/** The word of the judge on one; without an exit code it could not be run there. */
interface Judgement {
  readonly passed: boolean;
  readonly score?: number;
  readonly exitCode?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

type Ranked = Ended & { readonly judgement?: Judgement };

/** Best first; those that never began come last. */
async function judged(
  { talk, signal }: Context,
  litterbox: Pick<Performer, 'perform'>,
  all: readonly Ended[],
  judge: string,
): Promise<{ readonly ranked: readonly Ranked[]; readonly winner?: string }> {
  const sandboxes = all.filter((ended) => !('error' in ended)).map(({ sandbox }) => sandbox);
  if (sandboxes.length === 0) return { ranked: all };
  const result = await litterbox.perform(judgeSandboxes, { sandboxes, judge }, { signal, onProgress: talk.progress });
  talk.endProgress();
  const places = new Map(result.judged.map((one) => [one.record.slug as string, judgementOf(one)]));
  const order = [...places.keys()];
  const ranked = all
    .map((ended): Ranked => {
      const judgement = places.get(ended.sandbox);
      return judgement ? { ...ended, judgement } : ended;
    })
    .toSorted((one, other) => place(order, one.sandbox) - place(order, other.sandbox));
  return { ranked, ...(result.winner !== undefined && { winner: result.winner }) };
}

const place = (order: readonly string[], name: string) => (order.includes(name) ? order.indexOf(name) : order.length);

function judgementOf({ isPassed, score, judgement, error }: JudgedSandbox): Judgement {
  const code = isLitterboxError(error) ? error.code : 'INTERNAL';
  return {
    passed: isPassed,
    ...(score !== undefined && { score }),
    ...(judgement && { exitCode: judgement.exit.code }),
    ...(error && { error: { code, message: error.message } }),
  };
}

function judgeColumns({ judgement }: Ranked): string[] {
  const { passed = false, exitCode, score } = judgement ?? {};
  const word = exitCode === undefined ? 'did not run' : passed ? 'passed' : `exit ${exitCode}`;
  return [word, score === undefined ? '' : String(score)];
}

function endedOf(sandbox: string, exitCode: number, stdout: string, stderr: string): Ended {
  try {
    return JSON.parse(stdout) as Ended;
  } catch {
    const [line = ''] = stderr.split('\n').filter((one) => one.startsWith('{"error"'));
    const error = line === '' ? { message: `ended with exit code ${exitCode}` } : errorOf(line);
    return { sandbox, exitCode, error };
  }
}

const errorOf = (line: string) => (JSON.parse(line) as { readonly error: ErrorDocument }).error;

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
