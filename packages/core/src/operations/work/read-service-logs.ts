import * as z from 'zod';
import { parseByteSize } from '../../config/settings/parse-byte-size.ts';
import { ControlServices } from '../../use-cases/work/control-services.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';
import { wordings } from '../declare/wording.ts';

/** `sandbox-logs`, `litterbox logs`: show what the services of a sandbox print. */
export const readServiceLogs = operation({
  name: 'sandbox-logs',
  summary: 'Show what the services of a sandbox print',
  effect: 'read',
  command: {
    verb: 'logs',
    positional: ['sandbox', 'service'],
    examples: ['logs fix-login', 'logs fix-login web -f'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    service: z.string().optional().describe('One of them; all when it is left out'),
    isFollowing: fields
      .flag()
      .register(wordings, { flag: 'follow', short: 'f' })
      .optional()
      .describe('Stay, and show what comes'),
    tailBytes: fields
      .bytes(0)
      .register(wordings, { flag: 'tail', placeholder: 'size', parse: parseByteSize, wanted: 'a size such as 4KiB' })
      .optional()
      .describe('How much of the end of each, such as 4KiB'),
  }),
  execute: async (useCases, request, options) => useCases.get(ControlServices).logs(request, options),
});
