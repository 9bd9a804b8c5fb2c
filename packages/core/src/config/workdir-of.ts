import type { ConfigOverrides } from './config-overrides.ts';
import type { Config } from './config-schema.ts';
import type { PolicyFacts } from './policy-of.ts';

/** Where the workspace is inside: where somebody said, else where the provider puts it. */
export function workdirOf(config: Config, overrides: ConfigOverrides, facts: PolicyFacts): string {
  const fallback = facts.traits.workdir === '/src' ? '/src' : facts.repositoryRoot;
  return overrides.workdir ?? config.workspace.workdir ?? fallback;
}
