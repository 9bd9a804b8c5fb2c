import type { SandboxMeta } from './sandbox-meta.ts';
import type { OwnBound, Strategy } from '../strategies/strategy.ts';

/** By what the layers of a sandbox bound what it writes; undefined where nothing does, or its disk. */
export function ownBoundOf({ bound }: Strategy, { limits }: Pick<SandboxMeta, 'limits'>): OwnBound | undefined {
  return limits.diskBytes !== undefined && typeof bound === 'object' ? bound : undefined;
}
