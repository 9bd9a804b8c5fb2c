import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, forBackend } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { podman } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';

/** The whole kit over the test engine of whoever runs the tests, on one image. */
export async function runConformance(image: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-podman-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const host = localHost();
  const isRootless = process.getuid?.() !== 0;
  describeSandboxProvider({
    name: `podman, ${isRootless ? 'rootless' : 'rootful'}, ${image}`,
    runner: await forBackend(isRootless ? 'podman-rootless' : 'podman', { describe, it }, absence),
    open: async () => podman({ host, directory, socket: TEST_SOCKET }),
    host,
    root: { type: 'image', reference: image },
  });
}
