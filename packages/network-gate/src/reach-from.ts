import { Duplex } from 'node:stream';
import { type Host, LitterboxError, upstreamProxyOf } from '@litterbox/core/provider';
import { interfaces6, locals4, routes4, routes6 } from './own-networks.ts';
import type { Reach } from './reach-host.ts';
import { addressesIn } from './resolve-name.ts';

/** No table of a machine that is no router is larger. What is larger is not read, and then nothing is dialled. */
const MAX_TABLE_BYTES = 4 * 2 ** 20;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Reaches hosts from another machine: by its hosts file and resolver, and by its sockets. What it answers is looked at as our own is. */
export function reachFrom(
  host: Host,
): Pick<Reach, 'resolve' | 'dial' | 'dialName' | 'ownNetworks' | 'ownAddresses' | 'upstream'> {
  const dial: Reach['dial'] = async (address, port, signal) => {
    const stream = await host.connect({ host: address, port }, { signal });
    const socket = Duplex.fromWeb(stream, { allowHalfOpen: true });
    socket.on('close', () => void stream[Symbol.asyncDispose]().then(undefined, () => {}));
    return socket;
  };
  return {
    resolve: async (name) => await resolveThere(host, name),
    dial,
    dialName: dial,
    async ownNetworks() {
      const [routes, trie, routesOf6] = await Promise.all([
        table(host, 'route'),
        table(host, 'fib_trie'),
        table(host, 'ipv6_route', ''),
      ]);
      return [...routes4(routes), ...locals4(trie), ...routes6(routesOf6)];
    },
    async ownAddresses() {
      const [trie, interfaces] = await Promise.all([table(host, 'fib_trie'), table(host, 'if_inet6', '')]);
      const own = locals4(trie).filter((network) => network.endsWith('/32'));
      return [...own.map((network) => network.slice(0, -'/32'.length)), ...interfaces6(interfaces)];
    },
    upstream: upstreamProxyOf(host.environment),
  };
}

/** @param otherwise what stands for a table that the machine has not; a machine that does not show it is refused without one */
async function table(host: Host, name: string, otherwise?: string): Promise<string> {
  const bytes = await host.files.read(`/proc/net/${name}`, { maxBytes: MAX_TABLE_BYTES });
  const text = bytes ? new TextDecoder('latin1').decode(bytes) : otherwise;
  if (text === undefined)
    throw new LitterboxError('UNSUPPORTED', `${host.name} does not show its networks.`, {
      operation: 'network.dial',
      hint: 'Write from = "here" below [network] in .litterbox.toml.',
    });
  return text;
}

/** As on this machine: its hosts file, else its resolver, which is asked with a dot at the end, see `resolveName`. */
async function resolveThere(host: Host, name: string): Promise<readonly string[]> {
  const hosts = await host.files.read('/etc/hosts', { maxBytes: MAX_TABLE_BYTES });
  const known = hosts ? addressesIn(new TextDecoder('latin1').decode(hosts), name) : [];
  if (known.length > 0) return known;
  await using asked = await host.spawn({ argv: ['getent', 'ahosts', `${name}.`] });
  let said = '';
  for await (const { type, bytes } of asked) {
    if (type === 'stdout-data') said += new TextDecoder('latin1').decode(bytes);
    if (said.length > MAX_ANSWER_BYTES) throw new Error('more addresses than a host has');
  }
  return [...new Set(said.split('\n').flatMap((line) => line.split(/\s/, 1)[0] || []))];
}
