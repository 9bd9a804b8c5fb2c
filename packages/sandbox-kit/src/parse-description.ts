import { LitterboxError, SandboxId } from '@litterbox/core/provider';

/** What every provider's description of a sandbox has, whatever else is in it. */
export interface Description {
  readonly version: 1;
  readonly id: SandboxId;
  readonly workdir: string;
}

/**
 * What a provider wrote into a sandbox's directory at `create`, as JSON. Nobody but Litterbox writes there.
 *
 * @param place absolute path of the file, for the message
 * @throws LitterboxError `SANDBOX_BROKEN` for bytes that are none
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what else is in it is known to who wrote it
export function parseDescription<Meta extends Description>(bytes: Uint8Array, place: string, provider: string): Meta {
  try {
    const meta = JSON.parse(new TextDecoder().decode(bytes)) as Meta;
    if (meta.version === 1 && SandboxId.is(meta.id) && typeof meta.workdir === 'string') return meta;
  } catch {
    // said below
  }
  throw new LitterboxError('SANDBOX_BROKEN', `The description of the sandbox (${place}) cannot be read.`, {
    operation: 'provider.open',
    provider,
    hint: 'Run litterbox recover on it: its recorded revisions are not here and not affected.',
  });
}
