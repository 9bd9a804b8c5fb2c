import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { describeDirectorySync } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { rsync } from '../src/index.ts';
import { FAR_DIRECTORY, farHost } from './far-host.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-sync-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const local = localHost();

describeDirectorySync({
  name: 'rsync, on one host',
  runner: { describe, it },
  open: async () => rsync(),
  places: async () => ({ source: { host: local, path: directory }, target: { host: local, path: directory } }),
});

// A file system that only the far end sees takes root; an ordinary user checks that this file means it.
if (process.getuid?.() === 0) {
  const far = await farHost();
  afterAll(async () => await far[Symbol.asyncDispose]());
  describeDirectorySync({
    name: 'rsync, to another host',
    runner: { describe, it },
    open: async () => rsync(),
    places: async () => ({ source: { host: local, path: directory }, target: { host: far, path: FAR_DIRECTORY } }),
  });

  describe('the far host', () => {
    it('has files where this machine has none', async () => {
      const path = `${FAR_DIRECTORY}/proof-${crypto.randomUUID()}`;
      await far.files.makeDirectory(path);
      expect(await far.files.stat(path)).toBeDefined();
      expect(await local.files.stat(path)).toBeUndefined();
    });
  });
} else {
  describe('a sync to another host', () => {
    it('is tested by root alone', () => expect(process.getuid?.()).not.toBe(0));
  });
}
