import type { LitterboxOptions } from 'litterbox/agent';

/** In order of preference. */
export async function loadProviders(): Promise<LitterboxOptions['providers']> {
  const { overlayfs } = await import('@litterbox/provider-overlayfs');
  return [overlayfs];
}
