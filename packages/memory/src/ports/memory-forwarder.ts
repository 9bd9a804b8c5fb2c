import { type ByteStream, LitterboxError, type PortForwarder } from '@litterbox/core/provider';

/** The numbers of a machine's loopback, and who listens on them. Free ones are given out in order. */
export function memoryForwarder(
  first = 40_000,
): PortForwarder & { readonly listening: ReadonlyMap<number, () => Promise<ByteStream>>; take(port: number): void } {
  const listening = new Map<number, () => Promise<ByteStream>>();
  const nobody = () => Promise.reject(new Error('Another program listens there.'));
  return {
    listening,
    /** As another program takes it. */
    take: (port) => void listening.set(port, nobody),
    async free(without, options) {
      options?.signal?.throwIfAborted();
      let port = first;
      while (without.has(port) || listening.has(port)) port += 1;
      return port;
    },
    async listen(port, open, options) {
      options?.signal?.throwIfAborted();
      if (listening.has(port))
        throw new LitterboxError('PORT_TAKEN', `${port} is taken.`, { operation: 'forwarder.listen' });
      listening.set(port, open);
      return {
        port,
        async [Symbol.asyncDispose]() {
          if (listening.get(port) === open) listening.delete(port);
        },
      };
    },
  };
}
