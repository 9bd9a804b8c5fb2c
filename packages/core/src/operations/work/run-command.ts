import * as z from 'zod';
import { worded } from '../../domain/errors/next-step.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { RunCommand, type RunCommandResult } from '../../use-cases/work/run-command.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';
import { stepCommand } from '../declare/step-command.ts';
import { wordings } from '../declare/wording.ts';

/** Largest output kept of each stream when nobody says how much. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

/** `sandbox-run`, `litterbox run`: run a command in a sandbox and record what it changes. */
export const runCommand = operation({
  name: 'sandbox-run',
  summary: 'Run a command in a sandbox and record what it changes',
  effect: 'write',
  command: {
    verb: 'run',
    positional: ['sandbox', 'command'],
    examples: ['run fix-login -- npm test', "run fix-login 'cd api && make'", 'run fix-login -t -- top'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    command: fields
      .command()
      .describe('One argument is for the shell (bash, or sh where there is none); several arrive verbatim'),
    cwd: fields.text('directory').optional().describe('Absolute inside, or relative to the workspace'),
    env: fields.variables().optional().describe('For this command'),
    timeoutMs: fields.durationMs(1).optional().describe('Stop the whole process tree after this, such as 90s'),
    message: fields.message().optional().describe('The subject of the revision'),
    waitMs: fields.waitMs(),
    stdin: fields.octets().register(wordings, { about: 'All of its standard input' }).optional(),
    maxOutputBytes: fields
      .bytes(1)
      .max(MAX_OUTPUT_BYTES)
      .optional()
      .describe('Most to keep of each stream; the middle is left out'),
    mergeOutput: fields.flag().register(wordings, { about: 'Errors go where output goes, in order' }).optional(),
    tool: z
      .string()
      .regex(/^[a-z][a-z-]{0,31}$/, 'a word of a-z and dashes')
      .register(wordings, {
        about: 'The tool that calls, a word of a-z and dashes: the subject of the revision begins with it',
      })
      .optional(),
  }),
  document: ({ exit, shell, stdout, stderr, durationMs, interruption, recorded, hints }: RunCommandResult) => ({
    exitCode: exit.code,
    ...(exit.signal !== undefined && { signal: exit.signal }),
    ...(shell && { shell }),
    stdout: decodeRaw(stdout.bytes),
    stderr: decodeRaw(stderr.bytes),
    dropped: { stdout: stdout.droppedBytes, stderr: stderr.droppedBytes },
    timedOut: interruption === 'timeout',
    durationMs,
    recorded,
    ...(hints.length > 0 && { hints: hints.map((hint) => worded(hint, stepCommand)) }),
  }),
  execute: async (useCases, { mergeOutput: isMerged, ...input }, options) =>
    await useCases
      .get(RunCommand)
      .run({ ...input, isMerged, onOutput: options?.onOutput, onStart: options?.onStart }, options),
});
