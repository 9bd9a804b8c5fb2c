import { type CallOptions, type Host, type ProviderKey, quoted } from '@litterbox/core/provider';
import { cannotHonour } from '@litterbox/sandbox-kit';
import { runScriptOrFail } from '../script/run-script.ts';

/** File systems, in the words of `stat -f`, that tell the kernel whose memory it writes back. With others, what nobody syncs goes past the limit. */
const BOUNDED_FILE_SYSTEMS: readonly string[] = ['ext2/ext3', 'xfs', 'btrfs'];

/** What is refused where nothing bounds how fast a sandbox reads and writes. */
export const noDiskSpeed = (provider: ProviderKey, why: string, hint: string) =>
  cannotHonour(provider, `limits.disk-io on this machine: ${why}`, hint);

/**
 * Sees that the kernel knows who has written what it writes back.
 *
 * @param root absolute path of the provider's own directory; before it is made, the one above it tells
 * @throws LitterboxError `UNSUPPORTED` on other file systems than ext4, XFS and Btrfs
 */
export async function assertToldWrites(
  provider: ProviderKey,
  { host, root }: { readonly host: Host; readonly root: string },
  options?: CallOptions,
): Promise<void> {
  const look = `path=${quoted(root)}
until [ -e "$path" ] || [ ! "$path" ]; do path=\${path%/*}; done
stat -f -c %T "\${path:-/}"`;
  const type = (await runScriptOrFail(host, 'provider.create', look, options)).trim();
  if (BOUNDED_FILE_SYSTEMS.includes(type)) return;
  throw noDiskSpeed(
    provider,
    `the state directory is on ${type}, which does not tell whose memory the kernel writes back`,
    'Leave it out, or keep the state directory (LITTERBOX_HOME) on ext4, XFS or Btrfs.',
  );
}
