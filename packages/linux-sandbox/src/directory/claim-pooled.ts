import type { CallOptions, Host } from '@litterbox/core/provider';
import { notHere } from '@litterbox/sandbox-kit';

/** A file in the directory of a sandbox that was made in advance, until it is given away. */
export const POOLED = 'pooled';

/** Gives the sandbox in that directory away, once: who comes second is told that there is none. @throws LitterboxError `NOT_FOUND`. */
export async function takeMark(
  host: Host,
  directory: string,
  provider: string,
  id: string,
  options?: CallOptions,
): Promise<void> {
  const mark = `${directory}/${POOLED}`;
  // Of two at once one finds nothing to rename. What stays says that it was given away.
  await host.files.rename(mark, `${directory}/given-away`, options).catch(async (error: unknown) => {
    throw (await host.files.stat(mark)) ? error : notHere(provider, id);
  });
}
