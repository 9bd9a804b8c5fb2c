import type { Experimental_SandboxProcess } from 'ai';
import type { SpawnedProcess } from 'litterbox';

/** A process of a sandbox as the AI SDK handles one. Killing ends all that it started. */
export function processOf(
  spawned: SpawnedProcess,
  hasStdin: boolean,
): Experimental_SandboxProcess & { readonly stdin?: WritableStream<Uint8Array> } {
  return {
    stdout: spawned.stdout,
    stderr: spawned.stderr,
    ...(hasStdin && { stdin: spawned.stdin }),
    async wait() {
      const { exitCode } = await spawned.wait();
      return { exitCode };
    },
    kill: async () => await spawned[Symbol.asyncDispose](),
  };
}
