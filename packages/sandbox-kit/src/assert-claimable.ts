import {
  LitterboxError,
  type LimitName,
  type ResourceLimits,
  type SandboxRoot,
  type SandboxSpec,
} from '@litterbox/core/provider';

/** What a prepared sandbox was made of. */
export interface MadeSandbox {
  /** Key of its base. */
  readonly base: string;
  readonly workdir: string;
  readonly root: SandboxRoot;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: ResourceLimits;
  readonly playground: string;
  readonly allowDegraded: boolean;
  readonly strategy?: string;
}

/** Sees that a prepared sandbox is what `create` would make. @throws LitterboxError `CONFLICT` when it would be something else. */
export function assertClaimable(provider: string, spec: SandboxSpec, made: MadeSandbox): void {
  const limits = new Set([...Object.keys(spec.limits), 'diskBytes', 'diskBytesPerSecond']) as Set<LimitName>;
  const differences = {
    base: spec.workspace.key !== made.base,
    workdir: spec.workdir !== made.workdir,
    root: sorted(spec.root) !== sorted(made.root),
    environment: sorted(spec.environment) !== sorted(made.environment),
    limits: [...limits].some((name) => spec.limits[name] !== made.limits[name]),
    playground: spec.playground !== made.playground,
    controls: spec.allowDegraded !== made.allowDegraded,
    strategy: spec.strategy !== undefined && spec.strategy !== made.strategy,
  };
  const [difference] = Object.entries(differences).find(([, isOther]) => isOther) ?? [];
  if (difference !== undefined) throw unlike(provider, `its ${difference} would be another now`);
}

/** `claim`: what was prepared is not what would be made now. */
export function unlike(provider: string, reason: string): LitterboxError {
  return new LitterboxError('CONFLICT', `The prepared sandbox cannot be taken: ${reason}.`, {
    operation: 'provider.claim',
    provider,
    hint: 'Create one instead.',
  });
}

function sorted(value: object): string {
  return JSON.stringify(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
