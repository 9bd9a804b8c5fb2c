import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, forBackend } from '@litterbox/conformance';
import type { Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { absence, backendDirectory, removeBackend, type StrategyName } from './backends.ts';

/** The whole kit over one way of copying, on one host. */
export async function runConformance(
  strategy: StrategyName,
  host: Host = localHost(),
  name = `overlayfs, ${strategy}`,
): Promise<void> {
  const directory = await backendDirectory(strategy);
  afterAll(() => removeBackend(directory));
  describeSandboxProvider({
    name,
    runner: await forBackend(`overlayfs-${strategy}`, { describe, it }, () => absence(host, strategy)),
    open: async () => overlayfs({ host, directory, strategy }),
    host,
  });
}
