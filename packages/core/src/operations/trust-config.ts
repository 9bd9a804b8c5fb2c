import * as z from 'zod';
import type { ReadConfig } from '../use-cases/decide/decide-policy.ts';
import { TrustConfig } from '../use-cases/decide/trust-config.ts';
import { operation } from './declare/operation.ts';

/** `config-trust`, `litterbox trust`: agree to what .litterbox.toml asks for. */
export const trustConfig = operation({
  name: 'config-trust',
  summary: 'Agree to what .litterbox.toml asks for',
  effect: 'host',
  command: { verb: 'trust', positional: [], examples: ['trust', 'trust --show', 'trust --yes'] },
  input: z.strictObject({
    contentHash: z
      .string()
      .optional()
      .describe('What is agreed to, as it was shown. Without it nothing is: it is only read'),
  }),
  document: ({ trustText, isTrusted }: ReadConfig) => ({
    wants: trustText.split('\n').filter((line) => line !== ''),
    isTrusted,
  }),
  async execute(useCases, { contentHash }, options) {
    const trust = useCases.get(TrustConfig);
    return contentHash === undefined ? await trust.status(options) : await trust.trust(contentHash, options);
  },
});
