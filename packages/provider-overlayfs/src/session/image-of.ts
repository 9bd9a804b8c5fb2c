import { type DirectoryLayout, type DiskImage, diskOf } from '@litterbox/linux-sandbox';
import type { SandboxMeta } from './sandbox-meta.ts';
import type { Strategy } from '../strategies/strategy.ts';

/** The disk of its own that bounds what a sandbox writes; undefined where nothing does, or its layers. */
export function imageOf(layout: DirectoryLayout, { bound }: Strategy, meta: SandboxMeta): DiskImage | undefined {
  return bound === 'image' ? diskOf(layout, meta) : undefined;
}
