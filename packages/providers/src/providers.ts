import type { ProviderLoader } from '@litterbox/core/provider';

/** The providers that come along, in order of preference. The one place that names their packages. */
export const PROVIDERS: readonly [ProviderLoader, ...ProviderLoader[]] = [
  { kind: 'overlayfs', load: async () => (await import('@litterbox/provider-overlayfs')).overlayfs },
  { kind: 'docker', load: async () => (await import('@litterbox/provider-docker')).docker },
  { kind: 'podman', load: async () => (await import('@litterbox/provider-podman')).podman },
];
