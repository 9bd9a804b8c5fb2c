import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeHost } from '@litterbox/conformance';
import { openFarHost } from '@litterbox/far-host';
import { ShellsOfThisMachine } from './shells-of-this-machine.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-far-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

const CASES = [
  { name: 'a machine behind one shell', sharesSession: true },
  { name: 'a machine behind a shell for each program', sharesSession: false },
];

for (const { name, sharesSession } of CASES)
  describeHost({
    name,
    runner: { describe, it, afterAll },
    open: () => openFarHost({ name: 'far', sharesSession, connect: async () => new ShellsOfThisMachine() }),
    directory: async () => directory,
    hasSockets: false,
  });
