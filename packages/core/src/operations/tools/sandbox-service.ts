import * as z from 'zod';
import { condenseOutput } from '../../domain/search/condense-output.ts';
import type { ServiceStatus } from '../../services/kept-service.ts';
import { ControlServices } from '../../use-cases/work/control-services.ts';
import { AuditRead } from '../../use-cases/review/audit-read.ts';
import { recordedMeta, recordedText, warningLines } from './text/recorded-text.ts';
import { tool } from './tool.ts';
import { QUEUE_WAIT_MS, toolFields } from './tool-fields.ts';

const SHOWN = { maxCharacters: 12_000, maxLineCharacters: 1_000 };

export const sandboxService = tool({
  name: 'sandbox-service',
  title: 'Control services',
  summary: 'Start, stop, restart or show the services of a sandbox',
  effect: 'write',
  isIdempotent: false,
  profiles: ['standard', 'roadmap'],
  describe: ({ nameOf }) =>
    `Start, stop, restart or look at the services that the configuration gives a sandbox (web servers, databases); they start with it. status tells what runs; logs gives the end of what they print. ${nameOf('sandbox-ports')} tells where they listen.`,
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    action: z.enum(['start', 'stop', 'restart', 'status', 'logs']),
    service: z.string().optional().describe('Its name; all when left out'),
    message: toolFields.message(),
  }),
  async execute(useCases, { sandbox, action, service, message }, options) {
    const control = useCases.get(ControlServices);
    if (action === 'logs') {
      const read = async () => {
        let log = '';
        for await (const { service: name, text } of control.logs({ sandbox, service, tailBytes: 16_384 }, options))
          log += service === undefined ? `[${name}]\n${text}\n` : text;
        return log;
      };
      const log = await useCases.get(AuditRead).ofSandbox('sandbox-service', sandbox, read, options);
      const { text } = condenseOutput(log.toWellFormed(), SHOWN);
      return { type: 'text', text: [text === '' ? '[nothing printed yet]' : text], meta: {} };
    }
    if (action === 'status') {
      const services = await control.status({ sandbox, service }, options);
      return { type: 'facts', facts: { services } };
    }
    const change = { sandbox, action, service, message, waitMs: QUEUE_WAIT_MS };
    const { services, recorded } = await control.change(change, options);
    return {
      type: 'text',
      text: [[...services.map(serviceLine), `[${recordedText(recorded)}]`, ...warningLines(recorded)].join('\n')],
      meta: { services, ...recordedMeta(recorded) },
    };
  },
});

function serviceLine({ name, state, restarts, exit, note }: ServiceStatus): string {
  const words = [
    `${name}: ${state}`,
    ...(exit && state !== 'stopped' ? [`last run ended with ${exit.signal ?? `exit code ${exit.code}`}`] : []),
    ...(restarts > 0 ? [`started again ${restarts === 1 ? 'once' : `${restarts} times`}`] : []),
    ...(note !== undefined ? [note] : []),
  ];
  return words.join('; ');
}
