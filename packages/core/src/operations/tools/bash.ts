import * as z from 'zod';
import { condenseOutput } from '../../domain/search/condense-output.ts';
import type { CommandOutcome } from '../../channel/command-outcome.ts';
import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { worded } from '../../domain/errors/next-step.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { withoutGitUsage } from '../../domain/sandbox/without-git-usage.ts';
import { RunCommand, type RunCommandResult } from '../../use-cases/work/run-command.ts';
import { SpillOutput, type TakenBack } from '../../use-cases/work/spill-output.ts';
import { stepCommand } from '../declare/step-command.ts';
import { backgroundOf, inBackground } from './text/in-background.ts';
import { nameText } from './text/name-text.ts';
import { reachableText } from '../../domain/sandbox/reachable.ts';
import { recordedMeta, recordedText, warningLines } from './text/recorded-text.ts';
import { tool, type ToolSetting } from './tool.ts';
import { QUEUE_WAIT_MS, toolFields } from './tool-fields.ts';

/** Characters that a model is shown of one stream. */
const SHOWN = { maxCharacters: 24_000, maxLineCharacters: 2_000 };
/** Bytes kept of each stream, for the file that the rest is read from. */
const KEPT_BYTES = 4 * 2 ** 20;
const MAX_TIMEOUT_MS = 3_600_000;
/** Not beside another hint: what waits for a network that is not there does not get it by waiting longer. */
const LONGER = '[hint: give a longer timeout, or start it in the background]';

export const bash = tool({
  name: 'bash',
  title: 'Run a command',
  summary: 'Run a shell command in a sandbox',
  effect: 'write',
  isIdempotent: false,
  profiles: ['standard', 'roadmap'],
  roadmap: { name: 'sandbox-exec', needsMessage: true },
  describe: ({ timeoutMs, playground, place, git, hasRepository, reachable: rules, limits, shell, nameOf }) =>
    `Run a shell command (${shell ?? 'bash, or sh where the sandbox has no bash'}) in the sandbox: an isolated environment with ${rules.length === 0 ? 'no network access, so git clone, curl, wget and pip install do not work' : `no network access but to ${reachableText(rules)} (over HTTPS, through the proxy that HTTPS_PROXY names), so git clone, curl, wget and pip install do not work for anything else`}${git ? ` (to clone use ${nameOf('git')})` : ''}. ${limitsText(limits)}It starts in the workspace${place === undefined ? '' : ` (in ${nameText(place)}, where the person is; paths of other tools begin at its top)`}; what it changes there is recorded by itself as one revision, so there is nothing to commit${hasRepository ? '' : ', and git does not work there'}. Use ${playground} for clones and scratch files: it is kept and never recorded. Answers with stdout, stderr (2>&1 keeps their order) and the exit code. After the timeout (default ${timeoutMs} ms) all of it is ended; background lets it go on. Long output is cut; the answer names a file with all of it.`,
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    command: z.string().describe('Text for the shell'),
    workdir: z.string().optional().describe('Where to start, relative to the workspace or absolute in the sandbox'),
    timeout: z.int().min(1).max(MAX_TIMEOUT_MS).optional().describe('Milliseconds'),
    background: z.boolean().optional(),
    message: toolFields.message(),
  }),
  async execute(useCases, { sandbox, command, workdir, timeout, background = false, message }, options) {
    if (background && timeout !== undefined) throw noTimeout();
    const spill = useCases.get(SpillOutput);
    let unrecorded: CommandOutcome | undefined;
    const running = useCases.get(RunCommand).run(
      {
        sandbox,
        command,
        ...(background && { inPlace: inBackground(command) }),
        tool: 'bash',
        cwd: workdir,
        timeoutMs: timeout,
        message,
        maxOutputBytes: KEPT_BYTES,
        waitMs: QUEUE_WAIT_MS,
        onOutput: options?.onOutput,
        onTakenBack: (outcome) => spill.keepTakenBack(sandbox, outcome),
        onUnrecorded: (outcome) => {
          unrecorded = outcome;
        },
      },
      options,
    );
    const result = await running.catch((error: unknown) => {
      throw unrecorded === undefined ? error : withOutput(error, unrecorded);
    });
    const before = await spill.lastTakenBack(sandbox);
    const goesOn = background ? backgroundOf(decodeRaw(result.stdout.bytes)) : undefined;
    const { isCut, lines, stdoutCharacters } = outputOf(result, goesOn?.stdout);
    const file = isCut ? await spill.spill(sandbox, result, options) : undefined;
    return {
      type: 'text',
      text: [
        [
          ...lines,
          ...(isCut ? [cutLine(file)] : []),
          goesOn?.line ?? endLine(result),
          ...(before ? [takenBackLine(before)] : []),
          ...warningLines(result.recorded),
          ...result.hints.map((hint) => `[hint: ${worded(hint, stepCommand)}]`),
          ...(result.interruption === 'timeout' && result.hints.length === 0 ? [LONGER] : []),
        ].join('\n'),
      ],
      meta: {
        exitCode: result.exit.code,
        stdoutCharacters,
        ...(result.shell && { shell: result.shell }),
        ...(result.exit.signal !== undefined && { signal: result.exit.signal }),
        timedOut: result.interruption === 'timeout',
        durationMs: Math.round(result.durationMs),
        droppedBytes: { stdout: result.stdout.droppedBytes, stderr: result.stderr.droppedBytes },
        ...(file !== undefined && { outputFile: file }),
        ...recordedMeta(result.recorded),
      },
    };
  },
});

const noTimeout = () =>
  new LitterboxError('INVALID_ARGUMENT', 'A command in the background has no timeout.', {
    operation: 'tool.bash',
    hint: 'Leave one of the two out; the answer says how the command is ended.',
  });

/** What a model is shown of a command's output. */
function outputOf(
  outcome: Pick<CommandOutcome, 'stdout' | 'stderr'>,
  printed: string = decodeRaw(outcome.stdout.bytes),
) {
  const stdout = condenseOutput(withoutGitUsage(printed.toWellFormed()), SHOWN);
  const stderr = condenseOutput(withoutGitUsage(decodeRaw(outcome.stderr.bytes).toWellFormed()), SHOWN);
  const out = stdout.text.replace(/\n$/, '');
  return {
    isCut: stdout.isCut || stderr.isCut,
    /** How much of the answer's beginning is stdout: a program may print the very line that separates the two. */
    stdoutCharacters: out.length,
    lines: [
      ...(stdout.text === '' ? [] : [out]),
      ...(stderr.text === '' ? [] : ['[stderr]', stderr.text.replace(/\n$/, '')]),
    ],
  };
}

/** The command has run, and running it again only to see what it printed may do harm. */
function withOutput(error: unknown, outcome: CommandOutcome): unknown {
  if (!isLitterboxError(error)) return error;
  const { lines } = outputOf(outcome);
  const ended = `The command had ended before that with exit code ${outcome.exit.code} and printed ${lines.length === 0 ? 'nothing.' : 'this:'}`;
  return new LitterboxError(error.code, [error.message, ended, ...lines].join('\n'), error.details, { cause: error });
}

function limitsText({ cpus, memoryBytes }: ToolSetting['limits']): string {
  if (cpus === undefined || memoryBytes === undefined) return '';
  return `All its programs together have ${cpus} ${cpus === 1 ? 'processor' : 'processors'} and ${Math.round(memoryBytes / 2 ** 20)} MiB of memory. `;
}

function cutLine(file: string | undefined): string {
  return file === undefined
    ? '[output cut; send less of it, for example with grep, head or tail]'
    : `[output cut; all of it is in ${file}: read it part by part]`;
}

/** Clients give up long calls by themselves, and tell the model nothing of what was printed until then. */
function takenBackLine({ durationMs, file }: TakenBack): string {
  const printed = file === undefined ? 'nothing of its output is left' : `what it had printed is in ${file}`;
  return `[note: the client took the command before back after ${Math.round(durationMs / 1000)} s, so it was ended; ${printed}. Run what takes longer in the background, with its output in a file]`;
}

function endLine({ exit, shell, interruption, durationMs, recorded }: RunCommandResult): string {
  const seconds = (durationMs / 1000).toFixed(durationMs < 10_000 ? 1 : 0);
  const ended =
    interruption === 'timeout'
      ? `timed out after ${seconds} s and was ended`
      : interruption === 'channel-lost'
        ? `was lost after ${seconds} s: something ended its shell`
        : `exit code ${exit.code}${exit.signal === undefined ? '' : ` (${exit.signal})`}, ${seconds} s`;
  // Said of what went well, too: what bash does otherwise is no error to sh.
  const by = shell === 'sh' ? ', by sh because there is no bash' : '';
  return `[${ended}${by}, ${recordedText(recorded)}]`;
}
