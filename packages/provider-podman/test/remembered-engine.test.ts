import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { fixtureWorkspace, forBackend } from '@litterbox/conformance';
import { SandboxId, type SandboxProvider } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { podman } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-remembered-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const file = join(directory, 'podman/engine.json');

/** As another program would have it: what is known of an engine hangs on the host. */
const facts = await localHost().facts();
const opened = () => podman({ host: localHost(), facts, directory, socket: TEST_SOCKET });

async function createAndRemove(provider: SandboxProvider): Promise<void> {
  const id = SandboxId.make();
  const runtime = await provider.create({
    id,
    slug: 'remembered',
    repositoryId: '00000000-0000-4000-8000-000000000000',
    workspace: fixtureWorkspace('7e7e7e7e', [{ path: 'file', content: 'one\n' }]),
    workdir: '/src',
    root: { type: 'image', reference: 'busybox:latest' },
    environment: {},
    limits: {},
    network: 'none',
    playground: id,
    allowDegraded: true,
  });
  await runtime[Symbol.asyncDispose]();
  await provider.remove(id);
}

interface Look {
  bootId: string;
  address: string;
  at: number;
  facts: { architecture: string };
}

/** Another machine than this one is what nobody would find out by looking. */
function rewrite(change: (look: Look) => void): void {
  const look = JSON.parse(readFileSync(file, 'utf8')) as Look;
  look.facts.architecture = 'riscv64';
  change(look);
  writeFileSync(file, JSON.stringify(look));
}

const { describe: suite, it: test } = await forBackend('podman', { describe, it }, absence);

suite('what Podman told another program of itself', () => {
  test('is believed for an hour, of the same socket and boot, until somebody probes', async () => {
    await createAndRemove(opened()); // makes the directory
    await createAndRemove(opened());
    for (const change of [
      (look: Look) => void (look.at -= 3_700_000),
      (look: Look) => void (look.at += 3_700_000),
      (look: Look) => void (look.address += '2'),
      (look: Look) => void (look.bootId = 'another'),
    ]) {
      rewrite(change);
      await createAndRemove(opened());
    }
    rewrite(() => {});
    await expect(createAndRemove(opened())).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    writeFileSync(file, '{"version":1,');
    await createAndRemove(opened());
    rewrite(() => {});
    const provider = opened();
    expect((await provider.probe()).usable).toBe(true);
    await createAndRemove(provider);
    await createAndRemove(opened());
  });
});
