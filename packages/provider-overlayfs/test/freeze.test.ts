import { afterAll, expect, it } from '@jest/globals';
import { SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await removeBackend(directory);
});

it('whoever starts programs without end is paused every time', async () => {
  const directory = await backendDirectory('copy');
  directories.push(directory);
  const id = SandboxId.make();
  await using provider = overlayfs({
    host: localHost(),
    facts: await localHost().facts(),
    directory,
    strategy: 'copy',
  });
  await using runtime = await provider.create(sandboxSpec(id));
  await using starting = await runtime.spawn({
    argv: ['sh', '-c', 'for i in 1 2 3 4 5 6; do while :; do /bin/true; done & done; echo started; wait'],
  });
  await starting[Symbol.asyncIterator]().next();
  for (let round = 0; round < 60; round++) {
    await expect(runtime.pause()).resolves.toBeUndefined();
    await runtime.resume();
  }
  // Its programs write while they live: a directory that is removed under them is not empty at the end.
  await provider.remove(id);
});
