import {
  controlService,
  encodeRaw,
  listPorts,
  LitterboxError,
  type Parsed,
  portUrl,
  readServiceLogs,
  type ServiceState,
  visible,
} from '@litterbox/core';
import { browse } from '../browse.ts';
import type { Context } from '../context.ts';
import { ago, table } from '../terminal/table.ts';

const COLORS: Readonly<Record<ServiceState, 'green' | 'red' | 'yellow' | 'dim'>> = {
  running: 'green',
  exited: 'green',
  starting: 'yellow',
  stopping: 'yellow',
  waiting: 'red',
  unhealthy: 'red',
  failed: 'red',
  stopped: 'dim',
};

async function service(context: Context, input: Parsed<typeof controlService>): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await (input.action === 'status' ? context.litterbox() : context.settled());
  const services = await litterbox.perform(controlService, input, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document(services);
  if (services.length === 0)
    return talk.notice(
      'The sandbox has no services. They come from [container.services] of .litterbox.toml when it is created.',
    );
  const rows = services.map(({ name, state, sinceMs, restarts, exit, note }) => [
    name,
    talk.paint(COLORS[state], state),
    ago(sinceMs),
    String(restarts),
    exit ? (exit.signal ?? String(exit.code)) : '',
    visible(note ?? ''),
  ]);
  talk.result(table(['SERVICE', 'STATE', 'SINCE', 'RESTARTS', 'LAST EXIT', ''], rows, process.stdout.isTTY));
}

const MAX_LINE_CHARACTERS = 64 * 1024;

/** As they are into a file or a pipe; on a terminal what could move its cursor is shown, not done. */
async function logs(context: Context, input: Parsed<typeof readServiceLogs>): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.litterbox();
  const isRaw = input.service !== undefined && !process.stdout.isTTY;
  const unfinished = new Map<string, string>();
  const write = (name: string, line: string) => {
    process.stdout.write(input.service === undefined ? `${talk.paint('cyan', name)}  ` : '');
    process.stdout.write(process.stdout.isTTY ? visible(line) : encodeRaw(line));
    process.stdout.write('\n');
  };
  try {
    for await (const output of await litterbox.perform(readServiceLogs, input, { signal })) {
      if (talk.json) {
        talk.document(output);
        continue;
      }
      if (isRaw) {
        process.stdout.write(encodeRaw(output.text));
        continue;
      }
      const lines = ((unfinished.get(output.service) ?? '') + output.text).split('\n');
      const rest = lines.pop() ?? '';
      // A line without an end is shown in pieces.
      unfinished.set(output.service, rest.length > MAX_LINE_CHARACTERS ? '' : rest);
      for (const line of rest.length > MAX_LINE_CHARACTERS ? [...lines, rest] : lines) write(output.service, line);
    }
    for (const [name, line] of unfinished) if (line !== '') write(name, line);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function ports(
  context: Context,
  input: Parsed<typeof listPorts>,
  { open }: { readonly open?: string },
): Promise<void> {
  const { talk, signal, directory } = context;
  const found = await (await context.litterbox()).perform(listPorts, input, { signal });
  for (const { name, movedFrom } of found)
    if (movedFrom !== undefined) talk.warning(`${name} moved: another program took port ${movedFrom}.`);
  if (open !== undefined) {
    const port = found.find(({ name, inside }) => name === open || String(inside) === open);
    if (!port) {
      throw new LitterboxError('PORT_NOT_FOUND', `There is no port ${JSON.stringify(open)} in ${input.sandbox}.`, {
        operation: 'sandbox.ports',
        hint:
          found.length > 0
            ? `It has: ${found.map(({ name }) => name).join(', ')}.`
            : 'Ports come from [container.ports] of .litterbox.toml when a sandbox is created.',
      });
    }
    await browse(portUrl(port), directory); // nothing of the sandbox's is in the address: a number of ours
  }
  if (talk.json) return talk.document(listPorts.document?.(found));
  if (found.length === 0)
    return talk.notice(
      'The sandbox has no ports. They come from [container.ports] of .litterbox.toml when it is created.',
    );
  const rows = found.map((port) => [
    port.name,
    String(port.inside),
    portUrl(port),
    port.answers ? talk.paint('green', 'answers') : talk.paint('dim', 'nothing listens'),
  ]);
  talk.result(table(['PORT', 'INSIDE', 'HERE', ''], rows, process.stdout.isTTY));
}

export const presented = {
  'sandbox-service': { operation: controlService, present: service },
  'sandbox-logs': { operation: readServiceLogs, present: logs },
  'sandbox-ports': { operation: listPorts, present: ports },
} as const;
