import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, fixtureWorkspace, forBackend } from '@litterbox/conformance';
import { SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { podman } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-mounts-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const { uid } = await localHost().facts();
const backend = uid === 0 ? 'podman' : 'podman-rootless';
const { describe: suite, it: test } = await forBackend(backend, { describe, it }, absence);

suite('mounts of a container', () => {
  test('AX129: wherever a program inside can write, set-user-ID programs and devices count for nothing', async () => {
    const host = localHost();
    const provider = podman({ host, facts: await host.facts(), directory, socket: TEST_SOCKET });
    const id = SandboxId.make();
    const runtime = await provider.create({
      id,
      slug: 'mounts',
      repositoryId: '00000000-0000-4000-8000-000000000000',
      workspace: fixtureWorkspace('7e7e7e7f', [{ path: 'file', content: 'one\n' }]),
      workdir: '/src',
      root: { type: 'image', reference: 'busybox:latest' },
      environment: {},
      limits: {},
      network: 'none',
      playground: id,
      allowDegraded: true,
    });
    try {
      const script =
        'for d in /src ~ "$LITTERBOX_PLAYGROUND" /tmp /var/tmp /run/litterbox/changes; do echo "$d"; done; cat /proc/self/mountinfo';
      const { stdout } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
      const lines = stdout.trim().split('\n');
      const options = new Map(lines.slice(6).map((line) => [line.split(' ')[4], line.split(' ')[5]?.split(',')]));
      for (const place of lines.slice(0, 6))
        expect([place, options.get(place)]).toEqual([place, expect.arrayContaining(['nosuid', 'nodev'])]);
    } finally {
      await runtime[Symbol.asyncDispose]();
      await provider.remove(id);
    }
  });
});
