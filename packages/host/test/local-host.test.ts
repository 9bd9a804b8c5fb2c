import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
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

it('a program that is written again can be started at any moment', async () => {
  const host = localHost();
  const path = join(directory, 'program');
  const bytes = await readFile('/bin/true');
  await host.files.write(path, bytes, { mode: 0o755 });
  const writing = { isDone: false };
  const writer = (async () => {
    for (let run = 0; run < 60; run++) await host.files.write(path, bytes, { mode: 0o755 });
    writing.isDone = true;
  })();
  let started = 0;
  for (; !writing.isDone || started < 20; started++) {
    await using handle = await host.spawn({ argv: [path] });
    expect((await handle.exit).code).toBe(0);
  }
  await writer;
});
