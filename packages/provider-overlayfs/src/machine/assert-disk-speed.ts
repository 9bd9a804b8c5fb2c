import { type CallOptions, type Host, type ProviderKey } from '@litterbox/core/provider';
import { assertToldWrites, noDiskSpeed } from '@litterbox/linux-sandbox';
import type { Machine } from './machine.ts';

/**
 * Sees that the speed of the disk can be bounded.
 *
 * @param root absolute path of the provider's own directory, which is there
 * @throws LitterboxError `UNSUPPORTED` where nothing bounds what a sandbox reads and writes in a second
 */
export async function assertDiskSpeed(
  provider: ProviderKey,
  { host, root, machine }: { readonly host: Host; readonly root: string; readonly machine: Machine },
  options?: CallOptions,
): Promise<void> {
  if (machine.withoutDiskSpeed !== undefined)
    throw noDiskSpeed(
      provider,
      machine.withoutDiskSpeed,
      'Leave it out, or use a machine with version 2 of control groups, as root.',
    );
  await assertToldWrites(provider, { host, root }, options);
}
