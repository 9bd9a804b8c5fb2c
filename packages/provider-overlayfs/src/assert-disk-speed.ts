import { type CallOptions, type Host, type ProviderKey, quoted } from '@litterbox/core/provider';
import { runScriptOrFail } from '@litterbox/linux-sandbox';
import { cannotHonour } from '@litterbox/sandbox-kit';
import type { Machine } from './machine.ts';

/** File systems, in the words of `stat -f`, that tell the kernel whose memory it writes back. With others, what nobody syncs goes past the limit. */
const BOUNDED_FILE_SYSTEMS: readonly string[] = ['ext2/ext3', 'xfs', 'btrfs'];

/**
 * Sees that the speed of the disk can be bounded.
 *
 * @param root absolute path of the provider's own directory, which is there
 * @throws LitterboxError `UNSUPPORTED` where nothing bounds what a sandbox reads and writes in a second
 */
export async function assertDiskSpeed(
  provider: ProviderKey,
  { host, root, machine }: { readonly host: Host; readonly root: string; readonly machine: Machine },
  call?: CallOptions,
): Promise<void> {
  const refused = (why: string, hint: string) =>
    cannotHonour(provider, `the limit diskBytesPerSecond on this machine: ${why}`, hint);
  if (machine.withoutDiskSpeed !== undefined)
    throw refused(
      machine.withoutDiskSpeed,
      'Leave it out, or use a machine with version 2 of control groups, as root.',
    );
  const type = (await runScriptOrFail(host, 'provider.create', `stat -f -c %T ${quoted(root)}`, call)).trim();
  if (!BOUNDED_FILE_SYSTEMS.includes(type))
    throw refused(
      `the state directory is on ${type}, which does not tell whose memory the kernel writes back`,
      'Leave it out, or keep the state directory (LITTERBOX_HOME) on ext4, XFS or Btrfs.',
    );
}
