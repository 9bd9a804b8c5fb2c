import type { LitterboxOptions } from 'litterbox/performer';

/** In order of preference. */
export async function loadProviders(): Promise<LitterboxOptions['providers']> {
  const [{ overlayfs }, { docker }, { podman }] = await Promise.all([
    import('@litterbox/provider-overlayfs'),
    import('@litterbox/provider-docker'),
    import('@litterbox/provider-podman'),
  ]);
  return [overlayfs, docker, podman];
}
