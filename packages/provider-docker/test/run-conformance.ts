import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, describeSnapshotProvider, forBackend, type Lacking } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';

/** Root's provider bounds the speed of the disk, which version 1 of control groups cannot; an ordinary user of root's engine cannot read all that it wrote. */
function lackingHere(): readonly Lacking[] {
  if (process.getuid?.() !== 0) return ['copies'];
  return existsSync('/sys/fs/cgroup/cgroup.controllers') ? [] : ['disk-speed'];
}

/** The kit over the engine of the tests, on one image. */
export async function runConformance(image: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const host = localHost();
  const runner = await forBackend('docker', { describe, it, afterAll }, absence);
  const options = {
    name: `docker, ${image}`,
    runner,
    open: async () => docker({ host, facts: await host.facts(), directory, socket: TEST_SOCKET }),
    host,
    timeoutMs: 180_000,
    root: { type: 'image', reference: image } as const,
    lacking: lackingHere(),
  };
  describeSandboxProvider(options);
  describeSnapshotProvider(options);
}
