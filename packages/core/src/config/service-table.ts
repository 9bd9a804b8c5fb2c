import { type ArgumentList, readArgumentList } from './argument-list.ts';
import { isTable, Refused, refusedValue, setting } from './setting.ts';

export interface ServiceConfig {
  readonly command: ArgumentList;
  readonly signals: { readonly stop: string; readonly restart?: string };
}

const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGKILL'];
const EXAMPLE = 'Write web = { command = ["npm", "start"], signals = { stop = "SIGTERM" } }.';

const signal = { enum: SIGNALS };
const schema = {
  type: 'object',
  description: 'Programs that run beside the agent, by name.',
  additionalProperties: {
    type: 'object',
    required: ['command'],
    properties: {
      command: { type: 'array', items: { type: 'string' }, minItems: 1 },
      signals: { type: 'object', properties: { stop: signal, restart: signal } },
    },
  },
};

export function serviceTable() {
  return setting(schema, (value): Readonly<Record<string, ServiceConfig>> | Refused => {
    if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a table of services', EXAMPLE);
    const services: [string, ServiceConfig][] = [];
    for (const [name, entry] of Object.entries(value)) {
      const service = readService(name, entry);
      if (service instanceof Refused) return service;
      services.push([name, service]);
    }
    return Object.fromEntries(services);
  });
}

function readService(name: string, entry: unknown): ServiceConfig | Refused {
  if (!NAME.test(name)) {
    const wanted = 'a service name of 1 to 40 characters a-z, 0-9, - and _, a letter or digit at both ends';
    return refusedValue('CONFIG_NAME', name, wanted, 'Rename the service.', [name]);
  }
  if (!isTable(entry)) return refusedValue('CONFIG_TYPE', entry, 'a table with a command', EXAMPLE, [name]);
  if (entry['command'] === undefined) return new Refused('CONFIG_MISSING', 'is missing', EXAMPLE, [name, 'command']);
  const command = readArgumentList(entry['command'], [name, 'command']);
  if (command instanceof Refused) return command;
  const signals = entry['signals'] ?? {};
  if (!isTable(signals)) return refusedValue('CONFIG_TYPE', signals, 'a table', EXAMPLE, [name, 'signals']);
  for (const key of ['stop', 'restart']) {
    const given = signals[key];
    if (given === undefined || (typeof given === 'string' && SIGNALS.includes(given))) continue;
    return refusedValue('CONFIG_VALUE', given, `one of ${SIGNALS.join(', ')}`, EXAMPLE, [name, 'signals', key]);
  }
  const { stop, restart } = signals;
  return {
    command,
    signals: { stop: typeof stop === 'string' ? stop : 'SIGTERM', ...(typeof restart === 'string' && { restart }) },
  };
}
