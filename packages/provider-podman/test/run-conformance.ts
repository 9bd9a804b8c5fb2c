import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, describeSnapshotProvider, forBackend, type Lacking } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { podman } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';

const WITHOUT_CONTROL_GROUPS: readonly Lacking[] = ['memory', 'cpu', 'processes', 'pause'];

/** The whole kit over the test engine of whoever runs the tests, on one image. */
export async function runConformance(image: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-podman-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const host = localHost();
  const isRootless = process.getuid?.() !== 0;
  const options = {
    name: `podman, ${isRootless ? 'rootless' : 'rootful'}, ${image}`,
    runner: await forBackend(isRootless ? 'podman-rootless' : 'podman', { describe, it, afterAll }, absence),
    open: async () => podman({ host, facts: await host.facts(), directory, socket: TEST_SOCKET }),
    host,
    timeoutMs: 180_000,
    root: { type: 'image', reference: image } as const,
    // Whether control groups can be divided by an ordinary user, and bound the speed of the disk for root, is a matter of the machine: version 2.
    ...(!existsSync('/sys/fs/cgroup/cgroup.controllers') && {
      lacking: isRootless ? WITHOUT_CONTROL_GROUPS : (['disk-speed'] as const),
    }),
  };
  describeSandboxProvider(options);
  describeSnapshotProvider(options);
}
