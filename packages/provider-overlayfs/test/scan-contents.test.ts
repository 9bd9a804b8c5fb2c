import { afterAll, expect, it } from '@jest/globals';
import { collected, fixtureWorkspace } from '@litterbox/conformance';
import { SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await removeBackend(directory);
});

it.each(['overlay', 'copy'] as const)(
  '%s: a scan tells the contents of small changed files, up to 64 KiB in all',
  async (strategy) => {
    const directory = await backendDirectory(strategy);
    directories.push(directory);
    const id = SandboxId.make();
    await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory, strategy });
    await using runtime = await provider.create(
      sandboxSpec(id, { workspace: fixtureWorkspace('c0c0c0c0', [{ path: 'file', content: 'old\n' }]) }),
    );
    const { next } = await runtime.scan(undefined);
    const script = `printf 'new\\0\\001\\002\\377' >file; printf closed >closed; chmod 000 closed
i=0; while [ $i -lt 9 ]; do printf "%010000d" 0 >large-$i; i=$((i+1)); done`;
    expect((await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).exit.code).toBe(0);
    const told = new Map<string, Uint8Array | undefined>();
    for await (const change of (await runtime.scan(next)).changes)
      if (change.type === 'file') told.set(change.path, change.content);
    expect(told.get('file')).toEqual(Uint8Array.of(0x6e, 0x65, 0x77, 0, 1, 2, 0xff));
    expect(told.get('closed')).toBeUndefined();
    const large = [...told].filter(([path]) => path.startsWith('large-'));
    expect(large).toHaveLength(9);
    expect(large.filter(([, content]) => content?.length === 10_000)).toHaveLength(6);
    await provider.remove(id);
  },
);

it('a content that takes twice its length on the way, more than a pipe holds, is told as it is', async () => {
  const directory = await backendDirectory('overlay');
  directories.push(directory);
  const id = SandboxId.make();
  await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory });
  await using runtime = await provider.create(sandboxSpec(id));
  const { next } = await runtime.scan(undefined);
  const zeros = 'head -c 65000 /dev/zero >zeros';
  expect((await collected(await runtime.spawn({ argv: ['sh', '-c', zeros] }))).exit.code).toBe(0);
  const told = [];
  for await (const change of (await runtime.scan(next)).changes) if (change.type === 'file') told.push(change);
  expect(told.map(({ path, content }) => [path, content?.length])).toEqual([['zeros', 65_000]]);
  await provider.remove(id);
});
