import { type Host, type Hosts, LitterboxError, LOCAL_HOST, visibleName } from '@litterbox/core/agent';

/** The machine that this program runs on, and no other. */
export function localHosts(host: Host, directory: string): Hosts {
  return {
    list: async () => [{ name: LOCAL_HOST, address: 'this machine' }],
    async open(name, options) {
      options?.signal?.throwIfAborted();
      if (name === LOCAL_HOST) return { host, directory };
      throw new LitterboxError('INVALID_ARGUMENT', `There is no host ${visibleName(name)}.`, {
        operation: 'host.open',
        hint: `There are: ${LOCAL_HOST}, which is this machine and is not written behind a provider.`,
      });
    },
    async [Symbol.asyncDispose]() {},
  };
}
