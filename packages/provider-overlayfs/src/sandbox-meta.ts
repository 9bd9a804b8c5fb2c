import { type NewerFiles } from '@litterbox/linux-sandbox';
import { parseDescription } from '@litterbox/sandbox-kit';
import { type ResourceLimits, type SandboxId, type SandboxRoot, type ProviderKey } from '@litterbox/core/provider';
import type { Strategy } from './strategies/strategy.ts';

/** What `create` decided for a sandbox; written once into its directory. */
export interface SandboxMeta {
  readonly version: 1;
  readonly id: SandboxId;
  readonly slug: string;
  readonly repositoryId: string;
  readonly base: string;
  readonly strategy: Strategy['name'];
  readonly workdir: string;
  readonly root: Exclude<SandboxRoot, { type: 'image' }>;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Required<Pick<ResourceLimits, 'memoryBytes' | 'cpus' | 'processes' | 'openFiles'>> &
    Pick<ResourceLimits, 'diskBytes'>;
  readonly playground: string;
  readonly allowDegraded: boolean;
  /** The kept setup that it stands on, and what the programs were then. */
  readonly prepared?: { readonly key: string; readonly programs: string };
  /** What of the base is others than that setup saw. */
  readonly newer?: NewerFiles;
  /** Its layers began as copies of another sandbox's, or of a snapshot. */
  readonly isCopy?: true;
  /** Where change scans begin when nothing was recorded yet: absent when the whole layer is new. */
  readonly firstMark?: string;
}

export const parseMeta = (bytes: Uint8Array, place: string, provider: ProviderKey): SandboxMeta =>
  parseDescription(bytes, place, provider);
