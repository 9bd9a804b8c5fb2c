import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeHost } from '@litterbox/conformance';
import { localHost } from '../src/index.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-host-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

describeHost({
  name: 'this machine',
  runner: { describe, it },
  open: async () => localHost(),
  directory: async () => directory,
});
