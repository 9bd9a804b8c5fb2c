import type { Hosts, OpenedHost, SandboxProvider } from '@litterbox/core/agent';
import { parseProviderKey } from '@litterbox/core/agent';
import type { ProviderSource } from './open-providers.ts';

/**
 * A list of machines, with those that providers brought along: an embedder's `ssh(...)` is enough to name its machine. The list comes first where
 * both have a name. Machines that a provider brought are closed by it.
 */
export function withOwnMachines(hosts: Hosts, sources: readonly ProviderSource[]): Hosts {
  const own = new Map<string, OpenedHost>();
  for (const source of sources) {
    if (typeof source === 'function' || !isProvider(source) || !source.machine) continue;
    own.set(parseProviderKey(source.name).host, source.machine);
  }
  if (own.size === 0) return hosts;
  const { wake, preferred } = hosts;
  const listed = async () => new Set((await hosts.list()).map(({ name }) => name));
  return {
    async list(options) {
      const known = await hosts.list(options);
      const names = new Set(known.map(({ name }) => name));
      const added = [...own].filter(([name]) => !names.has(name));
      return [...known, ...added.map(([name, { host }]) => ({ name, address: host.name }))];
    },
    async open(name, options) {
      const brought = own.get(name);
      return brought && !(await listed()).has(name) ? brought : await hosts.open(name, options);
    },
    ...(wake && { wake: async (name, options) => (own.has(name) ? undefined : await wake.call(hosts, name, options)) }),
    ...(preferred && { preferred: (options) => preferred.call(hosts, options) }),
    [Symbol.asyncDispose]: () => hosts[Symbol.asyncDispose](),
  };
}

const isProvider = (source: Exclude<ProviderSource, (...args: never) => unknown>): source is SandboxProvider =>
  !('load' in source);
