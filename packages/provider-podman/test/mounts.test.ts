import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, fixtureWorkspace, forBackend } from '@litterbox/conformance';
import { SandboxId, type SandboxProvider, type SandboxSpec } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { podman } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-mounts-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const { uid } = await localHost().facts();
const backend = uid === 0 ? 'podman' : 'podman-rootless';
const { describe: suite, it: test } = await forBackend(backend, { describe, it }, absence);

async function opened(reference: string): Promise<{ readonly provider: SandboxProvider; readonly spec: SandboxSpec }> {
  const host = localHost();
  const provider = podman({ host, facts: await host.facts(), directory, socket: TEST_SOCKET });
  const id = SandboxId.make();
  const spec: SandboxSpec = {
    id,
    slug: 'mounts',
    repositoryId: '00000000-0000-4000-8000-000000000000',
    workspace: fixtureWorkspace('7e7e7e7f', [{ path: 'file', content: 'one\n' }]),
    workdir: '/src',
    root: { type: 'image', reference },
    environment: {},
    limits: {},
    network: 'none',
    playground: id,
    allowDegraded: true,
  };
  return { provider, spec };
}

suite('mounts of a container', () => {
  test('AX129: wherever a program inside can write, set-user-ID programs and devices count for nothing', async () => {
    const { provider, spec } = await opened('busybox:latest');
    const runtime = await provider.create(spec);
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
      await provider.remove(spec.id);
    }
  });

  test('AX131: an image whose links keep the workspace from its place is refused, and nothing is left', async () => {
    const byHand = (...args: readonly string[]) =>
      execFileSync('podman', ['--url', `unix://${TEST_SOCKET}`, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
    // A link that is the place itself gives way to a directory.
    const cases = [
      ['mkdir /a; ln -s /a /b', 'at /b/c or above it: the workspace would be at /a/c', '/b/c'],
      ['ln -s /src /data', 'by which a tmpfs is mounted over the workspace at /src', '/src'],
    ] as const;
    for (const [script, message, workdir] of cases) {
      const container = byHand('create', '--network', 'none', 'busybox:latest', 'sh', '-c', script);
      const image = `localhost/litterbox-test/linked:${container.slice(0, 12)}`;
      byHand('start', '--attach', container);
      byHand('commit', '--change', 'VOLUME /data', container, image);
      byHand('rm', container);
      try {
        const { provider, spec } = await opened(image);
        await expect(provider.create({ ...spec, workdir })).rejects.toMatchObject({
          code: 'UNSUPPORTED',
          message: `The image "${image}" has a symbolic link ${message}.`,
          details: { hint: expect.stringContaining('container.base-image') },
        });
        expect(byHand('ps', '--all', '--quiet', '--filter', `ancestor=${image}`)).toBe('');
        expect(existsSync(join(directory, 'podman/sandboxes', spec.id))).toBe(false);
      } finally {
        byHand('rmi', '--force', image);
      }
    }
  });
});
