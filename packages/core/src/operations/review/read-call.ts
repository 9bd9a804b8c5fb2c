import * as z from 'zod';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { type PastCall, type PastOutput, ReadCall } from '../../use-cases/review/read-call.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** Text of each side of what is missing, so that nobody takes the two for one. */
const outputDocument = (output: PastOutput) =>
  output.type === 'gone'
    ? { isGone: true, bytes: output.bytes }
    : output.droppedBytes === 0
      ? { text: decodeRaw(output.bytes) }
      : {
          head: decodeRaw(output.bytes.subarray(0, output.cutAt)),
          droppedBytes: output.droppedBytes,
          tail: decodeRaw(output.bytes.subarray(output.cutAt)),
        };

/** `sandbox-call`, `litterbox log NAME CALL`: how one call went, and what it printed. */
export const readCall = operation({
  name: 'sandbox-call',
  summary: 'Show one call of a sandbox: how it ended, and what it printed',
  effect: 'read',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    call: fields.text('call').describe("Its number in the log, or the agent's own id of it"),
  }),
  document: ({ printed, ...call }: PastCall) => ({
    ...call,
    ...(printed && {
      printed: {
        ...(printed.stdout && { stdout: outputDocument(printed.stdout) }),
        ...(printed.stderr && { stderr: outputDocument(printed.stderr) }),
      },
    }),
  }),
  execute: async (useCases, { sandbox, call }, options) => await useCases.get(ReadCall).read(sandbox, call, options),
});
