import { type ResourceLimits, type SandboxSpec } from '@litterbox/core/provider';
import { cannotHonour, type Description } from '@litterbox/sandbox-kit';

/** Ceilings of a sandbox, each decided; a disk of its own only where it has one. */
export type DecidedLimits = Required<Pick<ResourceLimits, 'memoryBytes' | 'cpus' | 'processes' | 'openFiles'>> &
  Pick<ResourceLimits, 'diskBytes' | 'diskBytesPerSecond'>;

/** Ceilings of a sandbox where nobody says otherwise. */
export const DEFAULT_LIMITS = { memoryBytes: 4 * 2 ** 30, cpus: 2, processes: 512, openFiles: 4096 } as const;

/** The part of a description that every sandbox with a directory has; written once, at `create`. */
export interface DirectoryDescription extends Description {
  readonly slug: string;
  readonly repositoryId: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: DecidedLimits;
  readonly playground: string;
  readonly allowDegraded: boolean;
}

/** Decides the part of a description that every provider decides alike. */
export function describeDirectory({ id, slug, repositoryId, workdir, ...spec }: SandboxSpec): DirectoryDescription {
  return {
    version: 1,
    id,
    slug,
    repositoryId,
    workdir,
    environment: spec.environment,
    limits: { ...DEFAULT_LIMITS, ...spec.limits },
    playground: spec.playground,
    allowDegraded: spec.allowDegraded,
  };
}

/**
 * The description of a copy: what it is made of is what its source is made of.
 *
 * @throws LitterboxError `UNSUPPORTED` where another disk is asked for
 */
export function describeCopy<Source extends DirectoryDescription>(
  provider: string,
  spec: SandboxSpec,
  source: Source,
): Source & { readonly isCopy: true } {
  if (spec.limits.diskBytes !== source.limits.diskBytes) throw notInCopies(provider, 'another limits.disk');
  return { ...source, ...describeDirectory(spec), limits: { ...source.limits, ...spec.limits }, isCopy: true };
}

/** `create`: a copy is asked to be made of something else than its source. */
export function notInCopies(provider: string, what: string): ReturnType<typeof cannotHonour> {
  return cannotHonour(provider, `${what} in a copy of a sandbox`, 'Ask for what that one has, or make a new sandbox.');
}
