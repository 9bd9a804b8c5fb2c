import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { describeSandboxProvider } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { isRoot, lackingOn } from './backends.ts';
import { PipeHost } from './pipe-host.ts';

// Making a file system that only the far end sees takes root; an ordinary user checks that this file means it.
if (isRoot) {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-pipe-'));
  const host = new PipeHost(directory);
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });
  // The canary and its positive control are files of the far end too: its home directory is this machine's.
  describeSandboxProvider({
    name: 'overlayfs over a host behind a pipe',
    runner: { describe, it, afterAll },
    open: async () => overlayfs({ host, facts: await host.facts(), directory }),
    host,
    lacking: lackingOn('overlay'),
    timeoutMs: 180_000,
  });

  describe('the host behind a pipe', () => {
    it("keeps the provider's files where only it can see them", async () => {
      await overlayfs({ host, facts: await host.facts(), directory }).probe();
      expect((await host.files.list(directory))?.map(({ name }) => name)).toContain('overlayfs');
      expect(await localHost().files.stat(`${directory}/overlayfs`)).toBeUndefined();
    });
  });
} else {
  describe('the host behind a pipe', () => {
    it('is tested by root alone', () => expect(isRoot).toBe(false));
  });
}
