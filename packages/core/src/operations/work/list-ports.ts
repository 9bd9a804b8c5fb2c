import * as z from 'zod';
import { ControlServices } from '../../use-cases/work/control-services.ts';
import type { PortStatus } from '../../use-cases/keeper/keeper-status.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-ports`, `litterbox ports`: list the ports of a sandbox and where they are found on this machine. */
export const listPorts = operation({
  name: 'sandbox-ports',
  summary: 'List the ports of a sandbox and where they are found on this machine',
  effect: 'read',
  command: { verb: 'ports', positional: ['sandbox'], examples: ['ports fix-login', 'ports fix-login --open web'] },
  input: z.strictObject({ sandbox: fields.sandbox() }),
  document: (ports: readonly PortStatus[]) => ports.map((port) => ({ ...port, url: portUrl(port) })),
  execute: async (useCases, { sandbox }, options) => await useCases.get(ControlServices).ports(sandbox, options),
});

/** Where a browser of this machine finds a port. */
export function portUrl({ outside }: Pick<PortStatus, 'outside'>): string {
  return `http://127.0.0.1:${outside}/`;
}
