import { docker } from '@litterbox/provider-docker';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { podman } from '@litterbox/provider-podman';
import type { ProviderFactory } from 'litterbox';

export type ProviderUnderTest = 'overlayfs' | 'docker' | 'podman';

/** Providers whose sandboxes are broken on purpose. */
export const PROVIDERS_UNDER_TEST: Readonly<Record<ProviderUnderTest, ProviderFactory>> = { overlayfs, docker, podman };

/** What a program needs of the environment to find the engine of the tests. */
export function engineEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ['DOCKER_HOST', 'CONTAINER_HOST'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
