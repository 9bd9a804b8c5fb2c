import { E2B } from 'e2b';
import type { Litterbox } from 'litterbox';
import { startE2b } from '../src/index.ts';

export const KEY = `e2b_${'0123456789abcdef'.repeat(3)}`;

/** The official client, led to a server of ours. */
export async function served(litterbox: Litterbox, onProblem?: (error: unknown) => void) {
  const server = await startE2b({ litterbox, key: KEY, ...(onProblem && { onProblem }) });
  const options = { apiKey: KEY, apiUrl: server.url, sandboxUrl: server.url };
  return {
    server,
    options,
    client: new E2B(options),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
    },
  };
}
