import type Docker from 'dockerode';

/** Asks the engine whether it is there. The types of dockerode do not know that this can be aborted. */
export async function ping(docker: Docker, abortSignal: AbortSignal): Promise<void> {
  const { ping: ask } = docker as unknown as { ping(options: { abortSignal: AbortSignal }): Promise<unknown> };
  await ask.call(docker, { abortSignal });
}
