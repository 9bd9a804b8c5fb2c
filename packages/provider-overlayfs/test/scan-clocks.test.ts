import { afterAll, expect, it } from '@jest/globals';
import { collected, fixtureWorkspace } from '@litterbox/conformance';
import { type ChangeMark, SandboxId, type SandboxRuntime } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await removeBackend(directory);
});

it.each(['overlay', 'copy'] as const)(
  '%s: a mark of another clock hides nothing that changed before it',
  async (strategy) => {
    const directory = await backendDirectory(strategy);
    directories.push(directory);
    const id = SandboxId.make();
    await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory, strategy });
    await using runtime = await provider.create(
      sandboxSpec(id, { workspace: fixtureWorkspace('c0c0c0c0', [{ path: 'file', content: 'old\n' }]) }),
    );
    const ran = await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo new >file; sleep 0.1'] }));
    expect(ran.exit.code).toBe(0);
    const { next } = await runtime.scan(undefined);
    const [moment, bootId, ahead] = next.split(' ');
    expect(await files(runtime, next)).toEqual([]); // the control: by its own clock it is known
    expect(await files(runtime, `${moment} 00000000-0000-4000-8000-000000000000 ${ahead}`)).toContain('file');
    expect(await files(runtime, `${moment} ${bootId} ${Number(ahead) + 60}`)).toContain('file');
    expect(await files(runtime, moment ?? '')).toContain('file');
    await provider.remove(id);
  },
);

async function files(runtime: SandboxRuntime, mark: ChangeMark): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const change of (await runtime.scan(mark)).changes) if (change.type === 'file') paths.push(change.path);
  return paths;
}
