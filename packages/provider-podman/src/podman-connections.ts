import {
  type CallOptions,
  decodeRaw,
  type Host,
  LitterboxError,
  type ProviderKey,
  shown,
} from '@litterbox/core/provider';
import { parse } from 'smol-toml';

/** An engine that `podman system connection` knows. */
export interface PodmanConnection {
  readonly uri: string;
  /** Absolute path of a private key. */
  readonly identity?: string;
}

/** What one file says. */
interface Connections {
  readonly usual?: string | undefined;
  readonly byName: Readonly<Record<string, unknown>>;
}

const MAX_FILE_BYTES = 2 ** 20;

/**
 * A connection that Podman keeps, by its name or the one that is used where nobody names one. Asked first is `podman-connections.json`,
 * which `podman system connection` writes, then each `containers.conf`, where older releases kept them.
 *
 * @returns `undefined` when none is named and there is no usual one
 * @throws LitterboxError `NOT_FOUND` for a name that nobody knows; `UNAVAILABLE` for a file that cannot be read
 * @see https://docs.podman.io/en/latest/markdown/podman-system-connection.1.html
 */
export async function findPodmanConnection(
  provider: ProviderKey,
  host: Host,
  name: string | undefined,
  options?: CallOptions,
): Promise<PodmanConnection | undefined> {
  const all: Connections[] = [];
  for (const path of await filesOf(host, options)) {
    const bytes = await host.files.read(path, { ...options, maxBytes: MAX_FILE_BYTES });
    if (bytes) all.push(connectionsIn(provider, path, decodeRaw(bytes)));
  }
  const wanted = name ?? all.find(({ usual }) => usual !== undefined)?.usual;
  if (wanted === undefined) return undefined;
  for (const { byName } of all) {
    const found = Object.hasOwn(byName, wanted) ? connectionOf(byName[wanted]) : undefined;
    if (found) return found;
  }
  throw new LitterboxError('NOT_FOUND', `Podman has no connection ${shown(wanted)}.`, {
    operation: 'engine.find',
    provider,
    hint: 'podman system connection list shows those that there are; CONTAINER_CONNECTION names one.',
  });
}

async function filesOf(host: Host, options?: CallOptions): Promise<readonly string[]> {
  const { homeDirectory } = await host.facts(options);
  const { environment } = host;
  const own = `${environment['XDG_CONFIG_HOME'] || `${homeDirectory}/.config`}/containers`;
  const named = environment['CONTAINERS_CONF'];
  return [
    environment['PODMAN_CONNECTIONS_CONF'] || `${own}/podman-connections.json`,
    ...(named
      ? [named]
      : [`${own}/containers.conf`, '/etc/containers/containers.conf', '/usr/share/containers/containers.conf']),
  ];
}

function connectionsIn(provider: ProviderKey, path: string, text: string): Connections {
  try {
    if (path.endsWith('.json')) {
      const { Connection } = JSON.parse(text) as { readonly Connection?: unknown };
      const { Default, Connections: byName } = recordOf(Connection);
      return { usual: textOf(Default), byName: recordOf(byName) };
    }
    const engine = recordOf(parse(text)['engine']);
    return { usual: textOf(engine['active_service']), byName: recordOf(engine['service_destinations']) };
  } catch (error) {
    throw new LitterboxError(
      'UNAVAILABLE',
      `${path} cannot be read: ${shown(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))}.`,
      { operation: 'engine.find', provider, hint: 'Correct the file, or name an engine in CONTAINER_HOST.' },
      { cause: error },
    );
  }
}

/** The two files write the same members in other cases. */
function connectionOf(value: unknown): PodmanConnection | undefined {
  const record = recordOf(value);
  const uri = textOf(record['URI'] ?? record['uri']);
  const identity = textOf(record['Identity'] ?? record['identity']);
  return uri === undefined ? undefined : { uri, ...(identity !== undefined && { identity }) };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
