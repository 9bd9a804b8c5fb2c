import * as z from 'zod';
import { SeatAgent } from '../../use-cases/session/seat-agent.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `agent-seat`: let one agent at a time work in a sandbox, until what this gives is disposed of. */
export const seatAgent = operation({
  name: 'agent-seat',
  summary: 'Let one agent at a time work in a sandbox',
  effect: 'write',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    agent: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'a word of a-z, 0-9 and dashes'),
  }),
  execute: async (useCases, input, options) => await useCases.get(SeatAgent).seat(input, options),
});
