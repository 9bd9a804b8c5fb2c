import * as z from 'zod';
import { ControlServices } from '../../use-cases/work/control-services.ts';
import type { ServiceStatus } from '../../services/kept-service.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-service`, `litterbox service`: start, stop, restart or show the services of a sandbox. */
export const controlService = operation({
  name: 'sandbox-service',
  summary: 'Start, stop, restart or show the services of a sandbox',
  effect: 'write',
  command: {
    verb: 'service',
    positional: ['sandbox', 'action', 'service'],
    examples: ['service fix-login status', 'service fix-login restart web', 'service fix-login stop'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    action: z.enum(['start', 'stop', 'restart', 'status']).describe('start, stop, restart or status'),
    service: z.string().optional().describe('One of them; all when it is left out'),
    message: fields.message().optional().describe('The subject of the revision'),
    waitMs: fields.waitMs(),
  }),
  document: (services: readonly ServiceStatus[]) => services,
  async execute(useCases, { action, ...request }, options) {
    const control = useCases.get(ControlServices);
    if (action === 'status') return await control.status(request, options);
    return (await control.change({ ...request, action }, options)).services;
  },
});
