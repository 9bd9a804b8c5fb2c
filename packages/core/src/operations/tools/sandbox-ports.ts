import * as z from 'zod';
import { ControlServices } from '../../use-cases/work/control-services.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const facts = z.object({
  ports: z.array(
    z.object({
      name: z.string(),
      inside: z.number(),
      outside: z.number(),
      answers: z.boolean().optional(),
      movedFrom: z.number().optional(),
    }),
  ),
});

export const sandboxPorts = tool({
  name: 'sandbox-ports',
  title: 'List ports',
  summary: 'List the ports of a sandbox that a person can reach',
  effect: 'read',
  isIdempotent: true,
  profiles: ['standard', 'roadmap'],
  describe: () =>
    "List the ports that the configuration opens. A program in the sandbox listens on the inside number (in the variable LITTERBOX_PORT_NAME); the person's browser finds it at http://127.0.0.1:OUTSIDE. answers tells whether something listens now.",
  input: z.strictObject({ sandbox: toolFields.sandbox() }),
  facts,
  async execute(useCases, { sandbox }, options) {
    const ports = await useCases.get(ControlServices).ports(sandbox, options);
    return { type: 'facts', facts: { ports: ports.map((port) => ({ ...port })) } satisfies z.input<typeof facts> };
  },
});
