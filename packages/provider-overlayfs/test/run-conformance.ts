import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, describeSnapshotProvider, forBackend } from '@litterbox/conformance';
import { type Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { absence, backendDirectory, lackingOn, removeBackend, type StrategyName } from './backends.ts';

/** The kit over one way of copying, on one host. */
export async function runConformance(
  strategy: StrategyName,
  host: Host = localHost(),
  name = `overlayfs, ${strategy}`,
): Promise<void> {
  const directory = await backendDirectory(strategy);
  afterAll(() => removeBackend(directory));
  const runner = await forBackend(`overlayfs-${strategy}`, { describe, it, afterAll }, () => absence(host, strategy));
  const options = {
    name,
    runner,
    open: async () => overlayfs({ host, facts: await host.facts(), directory, strategy }),
    host,
    lacking: lackingOn(strategy),
    timeoutMs: strategy === 'zfs' ? 600_000 : 180_000, // ZFS is in a machine that may be emulated
  };
  describeSandboxProvider(options);
  describeSnapshotProvider(options);
}
