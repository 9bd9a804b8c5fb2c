import { type SandboxId, type CallOptions, type Host } from '@litterbox/core/provider';
import { type Description, parseDescription, notHere } from '@litterbox/sandbox-kit';

/**
 * The description of a sandbox that is to be opened.
 *
 * @param files absolute paths: its directory, and the description in it
 * @throws LitterboxError `NOT_FOUND` when there is no such directory; `SANDBOX_BROKEN` for one without a description that can be read
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what else is in it is known to who wrote it
export async function readDescription<Meta extends Description>(
  host: Host,
  files: { readonly directory: string; readonly meta: string },
  provider: string,
  id: SandboxId,
  call?: CallOptions,
): Promise<Meta> {
  const bytes = await host.files.read(files.meta, call);
  if (!bytes && !(await host.files.stat(files.directory, call))) throw notHere(provider, id);
  return parseDescription<Meta>(bytes ?? new Uint8Array(), files.meta, provider);
}
