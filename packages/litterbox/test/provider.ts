import { docker } from '@litterbox/provider-docker';
import { kubernetes } from '@litterbox/provider-kubernetes';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { podman } from '@litterbox/provider-podman';
import type { ProviderFactory } from '../src/index.ts';

const FACTORIES: Readonly<Record<string, ProviderFactory>> = { overlayfs, docker, podman, kubernetes };

/** The provider that the suites of this package run on; `tools/test.sh` runs them once for each. */
export const PROVIDER = process.env['LITTERBOX_TEST_PROVIDER'] ?? 'overlayfs';

const factory = FACTORIES[PROVIDER];
if (!factory) throw new Error(`LITTERBOX_TEST_PROVIDER is ${PROVIDER}; there are ${Object.keys(FACTORIES).join(', ')}`);

/** Makes it. */
export const provider: ProviderFactory = factory;
