import { fstatSync } from 'node:fs';
import {
  type AttachedProcess,
  type FinishedProcess,
  LitterboxError,
  openShell,
  BoundedOutput,
  type Parsed,
  type RevisionResult,
  runCommand,
  type RunningCommand,
  stepCommand,
  visible,
  visibleName,
  worded,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { inPlace } from '../in-place.ts';
import { isOnePlace, passOn } from '../terminal/output-streams.ts';
import type { Talk } from '../terminal/talk.ts';
import { TerminalModes } from '../terminal/terminal-modes.ts';
import { terminalName } from '../terminal/terminal-name.ts';

/** The exit status of `timeout` for a command that it ended; one that was killed for memory has 137. */
const TIMED_OUT = 124;
/** Of each stream with `--json`, as much as of a command without input. */
const MAX_KEPT_BYTES = 1024 * 1024;

async function run(
  context: Context,
  input: Parsed<typeof runCommand>,
  { tty = false }: { readonly tty?: boolean },
): Promise<void> {
  const { talk, signal } = context;
  const { sandbox, command, env, cwd, message, timeoutMs } = input;
  const litterbox = await context.settled();
  if (tty || hasInput()) {
    const attach = async (place: string | undefined) =>
      await litterbox.perform(
        openShell,
        {
          sandbox,
          command,
          mergeOutput: !tty && !talk.json && isOnePlace(),
          tool: 'run',
          cwd: place,
          message,
          ...(tty ? { terminal: terminalSize(), env: { ...env, TERM: terminalName(process.env['TERM']) } } : { env }),
        },
        { signal, onProgress: talk.progress },
      );
    const attached = await inPlace(context, cwd, attach);
    talk.endProgress();
    return await (tty ? inTerminal(context, attached, timeoutMs) : piped(context, attached, input));
  }
  const options = {
    signal,
    onProgress: talk.progress,
    onStart: (running: RunningCommand) => {
      talk.endProgress();
      context.onInterrupt(() => void running.signal('SIGINT'));
    },
    onOutput: talk.json ? undefined : passOn,
  };
  const mergeOutput = !talk.json && isOnePlace();
  const result = await inPlace(context, cwd, async (place) => {
    return await litterbox.perform(runCommand, { ...input, cwd: place, mergeOutput }, options);
  });
  if (talk.json) talk.document(runCommand.document?.(result));
  else {
    if (result.interruption === 'timeout') talk.warning(timeoutText(result.durationMs));
    noteRecorded(talk, result.recorded);
    for (const hint of result.hints) talk.notice(`hint: ${visible(worded(hint, stepCommand))}`);
  }
  process.exitCode = result.interruption === 'timeout' ? TIMED_OUT : result.exit.code;
}

async function shell(context: Context, input: Parsed<typeof openShell>): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new LitterboxError('NEED_TTY', 'A shell needs a terminal on stdin and stdout.', {
      operation: 'cli.shell',
      hint: `Run single commands: litterbox run ${input.sandbox} -- COMMAND.`,
    });
  }
  const litterbox = await context.settled();
  await inTerminal(
    context,
    await inPlace(context, input.cwd, async (cwd) => {
      const env = { TERM: terminalName(process.env['TERM']), ...input.env };
      return await litterbox.perform(
        openShell,
        { ...input, cwd, terminal: terminalSize(), env },
        { signal: context.signal },
      );
    }),
  );
}

/** A terminal that was given no size says that it has 0 columns. */
const terminalSize = () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 });

/** A pipe or a file is passed on; a terminal is for `--tty`, and /dev/null is nothing. */
function hasInput(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice();
  } catch {
    return false; // closed
  }
}

/** The person's terminal is the process's: raw, resized along, and given back whatever happens. */
async function inTerminal({ talk }: Context, attached: AttachedProcess, timeoutMs?: number): Promise<void> {
  await using _attached = attached;
  using over = deadline(attached, timeoutMs, talk);
  const { process: inside } = attached;
  if (attached.notice !== undefined) talk.notice(attached.notice);
  const { stdin, stdout } = process;
  const type = (bytes: Buffer) => void inside.write(bytes);
  const resize = () => void inside.resize?.(terminalSize());
  const modes = new TerminalModes();
  const giveBack = () => {
    stdin.setRawMode?.(false);
    stdout.write(modes.takeRestoring());
  };
  stdin.setRawMode?.(true);
  stdin.on('data', type);
  stdout.on('resize', resize);
  try {
    for await (const { bytes } of inside) {
      modes.hear(bytes);
      await passOn({ type: 'stdout-data', bytes });
    }
    const exit = await inside.exit;
    giveBack();
    noteRecorded(talk, await attached.finish(exit));
    process.exitCode = over.isOver ? TIMED_OUT : exit.code;
  } finally {
    giveBack();
    stdin.off('data', type);
    stdout.off('resize', resize);
    stdin.pause();
  }
}

async function piped(
  { talk, signal, onInterrupt }: Context,
  attached: AttachedProcess,
  {
    timeoutMs = talk.json ? attached.timeoutMs : undefined,
    maxOutputBytes = MAX_KEPT_BYTES,
  }: Parsed<typeof runCommand>,
): Promise<void> {
  await using _attached = attached;
  using over = deadline(attached, timeoutMs, talk);
  const startedMs = performance.now();
  const [stdout, stderr] = [new BoundedOutput(maxOutputBytes), new BoundedOutput(maxOutputBytes)];
  const { process: inside } = attached;
  onInterrupt(() => void inside.kill('SIGINT'));
  const feeding = (async () => {
    for await (const bytes of process.stdin) await inside.write(bytes as Buffer);
    await inside.closeStdin();
  })();
  feeding.catch(() => {}); // a process that ends early leaves its input unread
  for await (const chunk of inside) {
    if (!talk.json) await passOn(chunk);
    else (chunk.type === 'stdout-data' ? stdout : stderr).push(chunk.bytes);
  }
  const exit = await inside.exit;
  process.stdin.destroy();
  const { hints, ...recorded } = await attached.finish(exit);
  signal.throwIfAborted();
  if (talk.json) {
    const durationMs = performance.now() - startedMs;
    const interruption = over.isOver ? ({ interruption: 'timeout' } as const) : {};
    const outcome = { exit, stdout: stdout.kept(), stderr: stderr.kept(), durationMs, ...interruption };
    talk.document(runCommand.document?.({ ...outcome, recorded, hints }));
  } else noteRecorded(talk, { ...recorded, hints });
  process.exitCode = over.isOver ? TIMED_OUT : exit.code;
}

/** Ends the process and all it started when its time is over. */
function deadline(
  { process: inside }: AttachedProcess,
  timeoutMs: number | undefined,
  talk: Talk,
): Disposable & { readonly isOver: boolean } {
  let isOver = false;
  const end = () => {
    isOver = true;
    if (!talk.json) talk.warning(timeoutText(timeoutMs));
    void inside[Symbol.asyncDispose]();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
  return {
    get isOver() {
      return isOver;
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

function timeoutText(ranMs = 0): string {
  const seconds = Math.max(1, Math.round(ranMs / 1000));
  const after = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `stopped after ${after}, the timeout of the command. For more time: --timeout, or limits.timeout for all commands`;
}

/** One line on what was recorded, and what was not. */
function noteRecorded(
  talk: Talk,
  { revision, changedFiles, warnings, moreWarnings, hints = [] }: RevisionResult & Partial<FinishedProcess>,
): void {
  if (revision)
    talk.notice(
      talk.paint(
        'dim',
        `revision ${revision.number}: ${changedFiles === 1 ? 'one file' : `${changedFiles} files`}`,
        process.stderr,
      ),
    );
  for (const warning of warnings.slice(0, 5)) talk.warning(sentence(warning));
  if (warnings.length + moreWarnings > 5) talk.warning(`and ${warnings.length + moreWarnings - 5} more`);
  for (const hint of hints) talk.notice(`hint: ${visible(worded(hint, stepCommand))}`);
}

function sentence(warning: RevisionResult['warnings'][number]): string {
  const path = warning.path === '' ? 'the workspace itself' : visibleName(warning.path);
  switch (warning.type) {
    case 'refused-path':
      return `${path} is never recorded (${warning.code})`;
    case 'nested-repository':
      return `${path}: the files beside it are recorded, the repository itself is not`;
    case 'large-new-file':
      return `${path} is new and ${Math.round(warning.sizeBytes / 2 ** 20)} MiB large`;
    case 'unreadable':
      return `Litterbox cannot read or pack ${path}, so it is not recorded`;
    case 'holds-secret':
      return `not recorded: ${path} holds the secret ${warning.secret}`;
  }
}

export const presented = {
  'sandbox-run': { operation: runCommand, present: run },
  'sandbox-shell': { operation: openShell, present: shell },
} as const;
