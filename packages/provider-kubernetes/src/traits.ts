import type { ProviderTraits } from '@litterbox/core/provider';

/** Traits of pods. */
export const TRAITS: ProviderTraits = {
  isolation: 'container',
  limits: ['memoryBytes', 'cpus', 'processes', 'openFiles', 'diskBytes'],
  workdir: '/src',
  roots: ['image'],
  network: 'filtered',
  kernelFiles: 'readable',
  keeps: 'nothing',
  strategies: ['agent-sandbox', 'warm-pool'],
};
