import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { LitterboxError } from 'litterbox';
import type { OpenedSeat, Seat } from '../seats/seat.ts';
import type { TriedProgram } from '../trial/tried-programs.ts';

/** What `query()` hands to who starts Claude for it, of `@anthropic-ai/claude-agent-sdk` 0.3.328. */
export interface ClaudeStart {
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

type Claude = ChildProcessByStdio<Writable, Readable, null>;

/** For `query({ options })` of `@anthropic-ai/claude-agent-sdk`. */
export interface ClaudeOptions {
  readonly cwd: string;
  readonly pathToClaudeCodeExecutable: string;
  readonly spawnClaudeCodeProcess: (start: ClaudeStart) => Claude;
}

/**
 * The SDK's options become words of the command line, which are looked through as a person's are; its `env` cannot replace the variables of
 * the seat. What is started here ends with it.
 */
export function startedClaudes(
  seat: Seat,
  { path }: TriedProgram,
  { args, environment }: OpenedSeat,
  cwd: string,
): AsyncDisposable & { readonly options: ClaudeOptions } {
  const running = new Set<Claude>();
  let isOver = false;
  return {
    options: {
      cwd,
      pathToClaudeCodeExecutable: path,
      spawnClaudeCodeProcess(start) {
        if (isOver)
          throw new LitterboxError('CONFLICT', 'The hands of this agent in the sandbox are disposed of.', {
            operation: 'agent.seat',
            hint: 'Ask for others by handsFor(), and dispose of them when query() has ended.',
          });
        const words = start.args.filter((word) => word !== path); // after an interpreter, where the SDK takes it for a script
        seat.refuse(start.env, words);
        const child = spawn(path, [...args, ...words], {
          cwd: start.cwd,
          env: { ...start.env, ...environment },
          signal: start.signal,
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        running.add(child);
        child.once('close', () => running.delete(child));
        return child;
      },
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await Promise.all(
        [...running].map(async (child) => {
          const closed = once(child, 'close');
          child.kill('SIGTERM');
          await closed;
        }),
      );
    },
  };
}
