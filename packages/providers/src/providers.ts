import type { ProviderLoader } from '@litterbox/core/provider';
import { openEngineMachine } from './open-engine-machine.ts';

/** The providers that come along, in order of preference; the last only for who names it. The one place that names their packages. */
export const PROVIDERS: readonly [ProviderLoader, ...ProviderLoader[]] = [
  { kind: 'overlayfs', load: async () => (await import('@litterbox/provider-overlayfs')).overlayfs },
  {
    kind: 'docker',
    load: async () => {
      const { docker } = await import('@litterbox/provider-docker');
      return (machine) => docker({ ...machine, openMachine: openEngineMachine(machine) });
    },
  },
  {
    kind: 'podman',
    load: async () => {
      const { podman } = await import('@litterbox/provider-podman');
      return (machine) => podman({ ...machine, openMachine: openEngineMachine(machine) });
    },
  },
  {
    kind: 'kubernetes',
    hasOwnPlaces: true,
    load: async () => (await import('@litterbox/provider-kubernetes')).kubernetes,
  },
];
