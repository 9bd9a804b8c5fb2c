import { hintForPeople, isLitterboxError, LitterboxError } from '@litterbox/core';
import { CommanderError } from 'commander';
import { isCancel } from './terminal/ask.ts';
import { blamedCommand } from './words/blamed-command.ts';
import { contextOf } from './context.ts';
import { currentDirectory, directoryOf } from './person/current-directory.ts';
import { toHere } from './from-here.ts';
import { exitCodeOf } from './exit-code.ts';
import { jsonLine } from './terminal/json-line.ts';
import { normalArguments } from './words/normal-arguments.ts';
import { programOf } from './program.ts';
import { endWithOutput } from './terminal/end-with-output.ts';
import { Talk } from './terminal/talk.ts';
import { usageError } from './usage-error.ts';

const ISSUES = 'This is a bug in Litterbox: please report it with the command you ran.';

/** Runs one command line and sets the exit code. */
export async function main(args: readonly string[]): Promise<void> {
  const controller = new AbortController();
  let signalled: number | undefined;
  let interrupted: (() => void) | undefined;
  const current = currentDirectory();
  let directory = current ?? '/';
  const stop = (name: 'SIGHUP' | 'SIGINT' | 'SIGTERM', code: number) =>
    process.on(name, () => {
      if (signalled !== undefined) process.exit(code); // the second time: at once
      if (name === 'SIGINT' && interrupted) {
        const handle = interrupted;
        interrupted = undefined; // who wants the next one too asks for it again
        handle();
        return;
      }
      signalled = code;
      controller.abort(new Error(`ended by ${name}`));
    });
  stop('SIGHUP', 129); // the terminal is closed
  stop('SIGINT', 130);
  stop('SIGTERM', 143);
  let talk = new Talk({ json: args.includes('--json'), quiet: false, color: undefined });
  endWithOutput(
    (error) => endUnwritten(error, talk, directory),
    () => signalled !== undefined,
  );

  let close = async () => {};
  const program = programOf((options) => {
    talk = new Talk({
      json: options.json ?? false,
      quiet: options.quiet ?? false,
      color: options.color === false ? false : undefined,
    });
    directory = directoryOf(current, options.repo);
    const context = contextOf(directory, args, talk, controller.signal, (handle) => {
      interrupted = handle;
    });
    close = () => context.close();
    return context;
  });
  if (talk.json) program.configureOutput({ writeErr: () => {} }); // the help that stands for a missing command
  try {
    if (args[0] === 'completion' || args[0] === 'complete')
      await (await import('./commands/completion.ts')).addCompletion(program, args[0] === 'complete', args[1]);
    await program.parseAsync([...normalArguments(program, args)], { from: 'user' });
    process.exitCode ??= 0;
  } catch (error) {
    process.exitCode = report(error, talk, signalled, directory);
  } finally {
    await close().catch((error: unknown) => {
      process.exitCode = report(error, talk, signalled, directory);
    });
  }
  if (signalled !== undefined) process.exitCode = signalled;
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.removeAllListeners(name);
}

/** Ends a command whose output cannot be written, and says why where somebody still reads. */
export function endUnwritten(error: NodeJS.ErrnoException, talk: Talk, directory: string): void {
  process.exit(report(unwritten(error), talk, undefined, directory));
}

function unwritten(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') return error;
  return new LitterboxError('DISK_FULL', `The output cannot be written to its end: ${error.code}.`, {
    operation: 'output.write',
    hint: 'Make room where the output goes, or send it elsewhere.',
  });
}

function report(error: unknown, talk: Talk, signalled: number | undefined, directory: string): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help' && !talk.json) return 2; // the help has been shown
    return report(usageError(error, blamedCommand(error)), talk, signalled, directory);
  }
  if (signalled !== undefined) return signalled;
  if (error instanceof SuppressedError) return report(error.suppressed, talk, signalled, directory); // what went wrong first
  const pathHere = (path: string) => toHere(directory, path);
  const { code, message, hint, facts } = isLitterboxError(error)
    ? {
        code: error.code,
        message: error.message,
        hint: hintForPeople(error.details, pathHere),
        facts: error.details.facts,
      }
    : {
        code: 'INTERNAL',
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
        hint: ISSUES,
        facts: undefined,
      };
  if (talk.json)
    process.stderr.write(jsonLine({ error: { code, message, ...(hint && { hint }), ...(facts && { facts }) } }));
  else if (isCancel(error)) talk.notice(message);
  else talk.error(message, hint);
  return exitCodeOf(error);
}
