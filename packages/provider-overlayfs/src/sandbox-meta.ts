import { LitterboxError, type ResourceLimits, SandboxId, type SandboxRoot } from '@litterbox/core/provider';
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
  readonly limits: Required<Pick<ResourceLimits, 'memoryBytes' | 'cpus' | 'processes' | 'openFiles'>>;
  readonly playground: string;
  readonly allowDegraded: boolean;
  /** The kept setup that it stands on, and what the programs were then. */
  readonly prepared?: { readonly key: string; readonly programs: string };
  /** Where change scans begin when nothing was recorded yet: absent when the whole layer is new. */
  readonly firstMark?: string;
}

export function parseMeta(bytes: Uint8Array, place: string): SandboxMeta {
  try {
    const meta = JSON.parse(new TextDecoder().decode(bytes)) as SandboxMeta;
    if (meta.version === 1 && SandboxId.is(meta.id) && typeof meta.workdir === 'string') return meta;
  } catch {
    // said below
  }
  throw new LitterboxError('SANDBOX_BROKEN', `The description of the sandbox (${place}) cannot be read.`, {
    operation: 'provider.open',
    provider: 'overlayfs',
    hint: 'Run litterbox recover on it: its recorded revisions are not here and not affected.',
  });
}
