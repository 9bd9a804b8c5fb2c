import * as z from 'zod';
import { type Proof, ReadProof } from '../../use-cases/review/read-proof.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-proof`: which tests were run in a sandbox, how they ended, and whether anything changed since. */
export const readProof = operation({
  name: 'sandbox-proof',
  summary: 'Say which tests were run in a sandbox, how they ended, and whether anything changed since',
  effect: 'read',
  input: z.strictObject({ sandbox: fields.sandbox() }),
  document: (proof: Proof) => proof,
  execute: async (useCases, { sandbox }, options) => await useCases.get(ReadProof).read(sandbox, options),
});
