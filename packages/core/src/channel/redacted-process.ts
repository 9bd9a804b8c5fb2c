import type { OutputChunk, ProcessHandle } from '../ports/common/process.ts';
import type { HeldSecrets } from './held-secrets.ts';
import { RedactedOutput } from './redacted-output.ts';

/** The same process, whose output has no secrets. */
export function redactedProcess(process: ProcessHandle, secrets: HeldSecrets): ProcessHandle {
  if (secrets.secrets.length === 0) return process;
  const { resize } = process;
  return {
    exit: process.exit,
    write: async (bytes) => await process.write(bytes),
    closeStdin: async () => await process.closeStdin(),
    kill: async (signal) => await process.kill(signal),
    ...(resize && { resize: async (size) => await resize.call(process, size) }),
    [Symbol.asyncIterator]: () => redacted(process, secrets),
    [Symbol.asyncDispose]: async () => await process[Symbol.asyncDispose](),
  };
}

async function* redacted(process: ProcessHandle, secrets: HeldSecrets): AsyncGenerator<OutputChunk, void, undefined> {
  const output = new RedactedOutput(secrets);
  for await (const chunk of process) {
    const passed = output.push(chunk);
    if (passed) yield passed;
  }
  yield* output.end();
}
