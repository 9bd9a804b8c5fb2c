import * as z from 'zod';
import { ForwardPorts } from '../../use-cases/session/forward-ports.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `port-open`: let this machine reach a port of a sandbox for as long as the program has it. */
export const openPort = operation({
  name: 'port-open',
  summary: 'Let this machine reach a port of a sandbox, and give its number here',
  effect: 'write',
  input: z.strictObject({ sandbox: fields.sandbox(), port: z.int().min(1).max(65_535) }),
  execute: async (useCases, { sandbox, port }, options) => ({
    inside: port,
    outside: await useCases.get(ForwardPorts).open(sandbox, port, options),
  }),
});
