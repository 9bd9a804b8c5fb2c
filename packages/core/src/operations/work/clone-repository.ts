import * as z from 'zod';
import { CloneRepository, type ClonedRepository } from '../../use-cases/work/clone-repository.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-clone`, `litterbox clone`: clone a repository of the network into a sandbox's playground. */
export const cloneRepository = operation({
  name: 'sandbox-clone',
  summary: "Clone a repository of the network into a sandbox's playground",
  effect: 'write',
  command: {
    verb: 'clone',
    positional: ['sandbox', 'url', 'destination'],
    examples: ['clone fix-login https://example.org/library.git', 'clone fix-login https://example.org/a.git libs/a'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    url: fields.text('url').describe('https or http, open to everybody: no password is sent'),
    destination: fields.text('directory').optional().describe('Below the playground. Default: the name in the URL'),
  }),
  document: (cloned: ClonedRepository) => cloned,
  execute: async (useCases, input, options) => await useCases.get(CloneRepository).clone(input, options),
});
