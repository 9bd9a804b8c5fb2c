import type { Assurance } from '@litterbox/core/provider';
import { type AssuranceInput, CONTAINER_RULES } from './judge-container.ts';

/** What is in force, as the kernel and the engine tell it. */
export function assuranceOf(input: AssuranceInput): Assurance {
  const { provider, title, facts } = input;
  return {
    provider,
    mechanism: `${title} ${facts.version}${facts.isRootless ? ' (rootless)' : ''}, ${facts.runtime}, workspace by overlay`,
    controls: CONTAINER_RULES.map((rule) => rule(input)),
    readable: [],
  };
}
