import * as z from 'zod';
import type { ServiceStatus } from '../../services/kept-service.ts';
import { KeepCommand } from '../../use-cases/work/keep-command.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-keep`: start a command that goes on when the program that asked for it has ended. */
export const keepCommand = operation({
  name: 'sandbox-keep',
  summary: 'Start a command that goes on when this program has ended',
  effect: 'write',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    command: fields.command(),
    name: z.string().optional(),
    cwd: fields.text('directory').optional(),
    env: fields.variables().optional(),
  }),
  document: (status: ServiceStatus) => status,
  execute: async (useCases, input, options) => await useCases.get(KeepCommand).keep(input, options),
});
