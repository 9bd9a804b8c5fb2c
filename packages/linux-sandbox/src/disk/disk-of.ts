import { type LitterboxError, type SandboxId, type SandboxSpec } from '@litterbox/core/provider';
import { cannotHonour } from '@litterbox/sandbox-kit';
import type { DirectoryDescription } from '../directory/directory-description.ts';
import type { DirectoryLayout } from '../directory/directory-layout.ts';
import { DISK_REMEDY, type DiskImage } from './disk-image.ts';

/** The disk of a sandbox; undefined where nothing bounds it. */
export function diskOf(
  { disks }: Pick<DirectoryLayout, 'disks'>,
  { id, limits }: { readonly id: SandboxId; readonly limits: Pick<DirectoryDescription['limits'], 'diskBytes'> },
): DiskImage | undefined {
  return limits.diskBytes === undefined ? undefined : { image: `${disks}/${id}`, sizeBytes: limits.diskBytes };
}

/**
 * Sees that the playground is the sandbox's alone, as all is that lies on its disk.
 *
 * @throws LitterboxError `UNSUPPORTED` when several sandboxes share it
 */
export function assertOwnPlayground(provider: string, { id, playground }: SandboxSpec): void {
  if (playground !== id)
    throw cannotHonour(
      provider,
      'limits.disk with a playground that several sandboxes share',
      'Set playground.scope to sandbox, or leave the limit out.',
    );
}

/** `create`: this machine makes no disks. */
export function noDisks(provider: string): LitterboxError {
  return cannotHonour(provider, 'limits.disk on this machine', `${DISK_REMEDY}, or leave the limit out.`);
}
