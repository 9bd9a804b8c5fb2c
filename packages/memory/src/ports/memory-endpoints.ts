import type { EndpointBooks, EndpointGate, EndpointPolicy } from '@litterbox/core/provider';

/** An endpoint that is open. */
export interface MemoryEndpoint {
  readonly policy: EndpointPolicy;
  readonly books: EndpointBooks;
}

/** Endpoints that lead nowhere: a test says what happens at one. */
export function memoryEndpoints(): EndpointGate & {
  readonly open: EndpointGate['open'];
  readonly all: readonly MemoryEndpoint[];
} {
  const all: MemoryEndpoint[] = [];
  return {
    all,
    async open(policy, books) {
      const endpoint = { policy, books };
      all.push(endpoint);
      return {
        serve: async (stream) => await stream[Symbol.asyncDispose](),
        async [Symbol.asyncDispose]() {
          const at = all.indexOf(endpoint);
          if (at !== -1) all.splice(at, 1);
        },
      };
    },
  };
}
