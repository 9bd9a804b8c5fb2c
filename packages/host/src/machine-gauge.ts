import {
  type CallOptions,
  decodeRaw,
  type Host,
  type HostGauge,
  type Hosts,
  LitterboxError,
  LOCAL_HOST,
  type MachineLoad,
  shown,
  untilAborted,
} from '@litterbox/core/provider';

/** One program, so that a machine that is far is asked once. @see proc_meminfo(5), proc_loadavg(5), proc_stat(5) */
const SCRIPT = `cat /proc/loadavg && grep -c '^cpu[0-9]' /proc/stat && grep -E '^Mem(Total|Available):' /proc/meminfo`;
/** The answer has four lines. */
const MAX_ANSWER_BYTES = 4096;
const KIB = 1024;

/** Asks the machines of a list, each by one program there. */
export function machineGauge(hosts: Pick<Hosts, 'open'>): HostGauge {
  return {
    async measure(name, options) {
      options?.signal?.throwIfAborted();
      // A machine that is being connected for several is no one caller's to give up.
      const { host } = await untilAborted(hosts.open(name, options), options?.signal);
      const { platform } = await untilAborted(host.facts(options), options?.signal);
      if (platform !== 'linux') {
        throw new LitterboxError(
          'UNSUPPORTED',
          `Litterbox cannot read the memory of ${name}, which runs ${platform}.`,
          {
            operation: 'host.measure',
            hint: 'Name machines with Linux.',
          },
        );
      }
      const begunMs = performance.now();
      const answer = await answerOf(host, options);
      // This machine is not away, however long its own program took to start.
      const load = parseLoad(answer, name === LOCAL_HOST ? 0 : performance.now() - begunMs);
      if (load) return load;
      throw new LitterboxError(
        'PROVIDER_PROTOCOL_ERROR',
        `Litterbox cannot read memory and load of ${name}. It answered: ${shown(answer)}.`,
        {
          operation: 'host.measure',
          hint: `Log in there, and check what this prints: ${SCRIPT}`,
        },
      );
    },
  };
}

/**
 * Reads what the script prints: the load of one, five and fifteen minutes, the number of processors, and lines of `/proc/meminfo`.
 *
 * @returns nothing for any other text
 */
export function parseLoad(text: string, roundTripMs: number): MachineLoad | undefined {
  const [loads = '', processors = '', ...lines] = text.split('\n');
  const load = /^([0-9]{1,7}\.[0-9]{2}) /.exec(loads)?.[1];
  const memory = (key: string) =>
    lines.map((line) => new RegExp(`^${key}: +([0-9]{1,15}) kB$`).exec(line)?.[1]).find((found) => found !== undefined);
  const [total, available] = [memory('MemTotal'), memory('MemAvailable')];
  if (load === undefined || total === undefined || available === undefined) return undefined;
  if (!/^[1-9][0-9]{0,5}$/.test(processors)) return undefined;
  return {
    memoryBytes: Number(total) * KIB,
    availableBytes: Math.min(Number(available), Number(total)) * KIB,
    processors: Number(processors),
    load: Number(load),
    roundTripMs,
  };
}

async function answerOf(host: Host, options?: CallOptions): Promise<string> {
  await using program = await host.spawn({ argv: ['/bin/sh', '-c', SCRIPT], stdin: 'none' }, options);
  let text = '';
  for await (const { type, bytes } of program) {
    if (type === 'stdout-data') text += decodeRaw(bytes);
    if (text.length > MAX_ANSWER_BYTES) break;
  }
  return text.slice(0, MAX_ANSWER_BYTES);
}
