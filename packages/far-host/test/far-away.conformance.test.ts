import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeHost } from '@litterbox/conformance';
import { openFarHost } from '@litterbox/far-host';
import { ShellsOfThisMachine } from './shells-of-this-machine.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-far-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

describeHost({
  name: 'a machine behind one shell, far away',
  runner: { describe, it, afterAll },
  open: () => openFarHost({ name: 'far', connect: async () => new ShellsOfThisMachine({ delayMs: 20 }) }),
  directory: async () => directory,
  hasSockets: false,
});
