import { LitterboxError, SandboxId, advice, step } from '@litterbox/core/provider';

/** What every provider's description of a sandbox has, whatever else is in it. */
export interface Description {
  readonly version: 1;
  readonly id: SandboxId;
  readonly workdir: string;
}

/**
 * What a provider wrote into a sandbox's directory at `create`, as JSON. On this machine nobody but Litterbox writes there; another one may say
 * anything.
 *
 * @param place absolute path of the file, for the message
 * @param machine name of the machine that it is on, for the message
 * @throws LitterboxError `SANDBOX_BROKEN` for bytes that are none
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what else is in it is checked by who wrote it
export function parseDescription<Meta extends Description>(
  bytes: Uint8Array,
  place: string,
  provider: string,
  machine: string,
): Meta {
  try {
    const read: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const { version, id, workdir } = (read ?? {}) as Readonly<Record<string, unknown>>;
    if (version === 1 && typeof id === 'string' && SandboxId.is(id) && typeof workdir === 'string') return read as Meta;
  } catch {
    // said below
  }
  throw brokenDescription(place, provider, machine);
}

/** The error of a description that is none. */
export function brokenDescription(place: string, provider: string, machine: string): LitterboxError {
  return new LitterboxError(
    'SANDBOX_BROKEN',
    `The description of the sandbox (${place} on ${machine}) cannot be read.`,
    {
      operation: 'provider.open',
      provider,
      hint: advice`Run ${step('sandbox-recover')}: its recorded revisions are not here and not affected.`,
    },
  );
}
