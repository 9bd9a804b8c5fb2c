import { type ArgumentList, readArgumentList } from './argument-list.ts';
import { parseDuration } from './parse-duration.ts';
import { isTable, Refused, refusedValue, setting } from './setting.ts';

export type RestartPolicy = 'always' | 'on-failure' | 'never';

/** How it is told that a service works: a port that answers, or a command that succeeds. */
export type HealthConfig = { readonly port: string | number } | { readonly command: ArgumentList };

export interface ServiceConfig {
  readonly command: ArgumentList;
  readonly signals: { readonly stop: string; readonly restart?: string };
  /** @defaultValue 'on-failure' */
  readonly restart?: RestartPolicy;
  readonly health?: HealthConfig;
  /** Services that are up, or have ended, before it starts. */
  readonly after?: readonly string[];
  /** Between the stop signal and SIGKILL. @defaultValue 10 s */
  readonly stopTimeoutMs?: number;
}

const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGKILL'];
const RESTARTS: readonly RestartPolicy[] = ['always', 'on-failure', 'never'];
const MAX_STOP_MS = 300_000;
const MAX_SERVICES = 64;
const EXAMPLE = 'Write web = { command = ["npm", "start"], signals = { stop = "SIGTERM" } }.';

const signal = { enum: SIGNALS };
const argumentList = { type: 'array', items: { type: 'string' }, minItems: 1 };
const schema = {
  type: 'object',
  description: 'Programs that run beside the agent, by name.',
  additionalProperties: {
    type: 'object',
    required: ['command'],
    properties: {
      command: argumentList,
      signals: { type: 'object', properties: { stop: signal, restart: signal } },
      restart: { enum: RESTARTS },
      health: { type: 'object', properties: { port: { type: ['string', 'integer'] }, command: argumentList } },
      after: { type: 'array', items: { type: 'string' } },
      'stop-timeout': { type: 'string' },
    },
  },
};

export function serviceTable() {
  return setting(schema, (value): Readonly<Record<string, ServiceConfig>> | Refused => {
    if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a table of services', EXAMPLE);
    const entries = Object.entries(value);
    if (entries.length > MAX_SERVICES)
      return refusedValue('CONFIG_VALUE', entries.length, `at most ${MAX_SERVICES} services`, 'Remove some.');
    const services: [string, ServiceConfig][] = [];
    for (const [name, entry] of entries) {
      const service = readService(name, entry);
      if (service instanceof Refused) return service;
      services.push([name, service]);
    }
    return wrongOrder(new Map(services)) ?? Object.fromEntries(services);
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
  const signals = readSignals(name, entry['signals'] ?? {});
  if (signals instanceof Refused) return signals;
  const restart = RESTARTS.find((one) => one === entry['restart']);
  if (entry['restart'] !== undefined && restart === undefined) {
    const wanted = `one of ${RESTARTS.join(', ')}`;
    return refusedValue('CONFIG_VALUE', entry['restart'], wanted, 'Write restart = "on-failure".', [name, 'restart']);
  }
  const health = readHealth(name, entry['health']);
  if (health instanceof Refused) return health;
  const after = readNames(entry['after'], [name, 'after']);
  if (after instanceof Refused) return after;
  const stopTimeoutMs = readStopTimeout(entry['stop-timeout'], [name, 'stop-timeout']);
  if (stopTimeoutMs instanceof Refused) return stopTimeoutMs;
  return {
    command,
    signals,
    ...(restart !== undefined && { restart }),
    ...(health && { health }),
    ...(after && { after }),
    ...(stopTimeoutMs !== undefined && { stopTimeoutMs }),
  };
}

function readSignals(name: string, signals: unknown): ServiceConfig['signals'] | Refused {
  if (!isTable(signals)) return refusedValue('CONFIG_TYPE', signals, 'a table', EXAMPLE, [name, 'signals']);
  for (const key of ['stop', 'restart']) {
    const given = signals[key];
    if (given === undefined || (typeof given === 'string' && SIGNALS.includes(given))) continue;
    return refusedValue('CONFIG_VALUE', given, `one of ${SIGNALS.join(', ')}`, EXAMPLE, [name, 'signals', key]);
  }
  const { stop, restart } = signals;
  return { stop: typeof stop === 'string' ? stop : 'SIGTERM', ...(typeof restart === 'string' && { restart }) };
}

function readHealth(name: string, health: unknown): HealthConfig | undefined | Refused {
  if (health === undefined) return undefined;
  const hint = 'Write health = { port = "web" }, or health = { command = ["pg_isready"] }.';
  const path = [name, 'health'];
  if (!isTable(health)) return refusedValue('CONFIG_TYPE', health, 'a table with a port or a command', hint, path);
  const { port, command } = health;
  if ((port === undefined) === (command === undefined))
    return new Refused('CONFIG_VALUE', 'wants either a port or a command', hint, path);
  if (command !== undefined) {
    const list = readArgumentList(command, [...path, 'command']);
    return list instanceof Refused ? list : { command: list };
  }
  if (typeof port === 'string' && /^[a-z](?:[a-z0-9_-]{0,38}[a-z0-9])?$/.test(port)) return { port };
  if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535) return { port };
  return refusedValue('CONFIG_VALUE', port, 'the name of a port, or 1..65535', hint, [...path, 'port']);
}

function readNames(value: unknown, path: readonly string[]): readonly string[] | undefined | Refused {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((one): one is string => typeof one === 'string')) return value;
  return refusedValue('CONFIG_TYPE', value, 'names of services, such as ["db"]', 'Write after = ["db"].', path);
}

function readStopTimeout(value: unknown, path: readonly string[]): number | undefined | Refused {
  if (value === undefined) return undefined;
  const durationMs = typeof value === 'string' ? parseDuration(value) : undefined;
  if (durationMs !== undefined && durationMs <= MAX_STOP_MS) return durationMs;
  return refusedValue('CONFIG_VALUE', value, 'a duration up to "5m"', 'Write stop-timeout = "10s".', path);
}

/** A service that waits for one that is not there, or in the end for itself. */
function wrongOrder(services: ReadonlyMap<string, ServiceConfig>): Refused | undefined {
  const isSettled = new Set<string>();
  const look = (name: string, above: readonly string[]): Refused | undefined => {
    if (isSettled.has(name)) return undefined;
    for (const before of services.get(name)?.after ?? []) {
      const path = [name, 'after'];
      if (!services.has(before))
        return refusedValue(
          'CONFIG_VALUE',
          before,
          `one of ${[...services.keys()].join(', ')}`,
          'Name a service.',
          path,
        );
      if (before === name || above.includes(before))
        return new Refused('CONFIG_VALUE', `${name} would wait for itself`, 'Take one of the names out.', path);
      const found = look(before, [...above, name]);
      if (found) return found;
    }
    isSettled.add(name);
    return undefined;
  };
  for (const name of services.keys()) {
    const found = look(name, []);
    if (found) return found;
  }
  return undefined;
}
