import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { fixtureWorkspace } from '@litterbox/conformance';
import {
  type Host,
  isLitterboxError,
  SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { byShell } from './rewritten.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-snapshots-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** This machine, where the program is gone before a script of these words. */
function dyingBefore(words: string): Host {
  const local = localHost();
  return {
    ...local,
    spawn: async (spec, options) => {
      if (spec.argv.some((word) => word.includes(words))) throw new Error('killed');
      return await local.spawn(spec, options);
    },
  };
}

/** This machine, where the session program is killed as it goes back, before it makes a system call so many times. */
function dyingAt(call: string, count: number): Host {
  const local = localHost();
  const inject = `inject=${call}:signal=KILL:when=${count}`;
  return {
    ...local,
    spawn: async (spec, options) => {
      if (spec.argv[1] !== 'restore') return await local.spawn(spec, options);
      const argv = ['strace', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', inject, ...spec.argv] as const;
      return await local.spawn({ ...spec, argv }, options);
    },
  };
}

async function running(provider: SandboxProvider): Promise<SandboxRuntime> {
  const id = SandboxId.make();
  return await provider.create(
    sandboxSpec(id, {
      workspace: fixtureWorkspace('5a5a5a5a', [{ path: 'file', content: 'one\n' }]),
      allowDegraded: true,
    }),
  );
}

async function made(provider: SandboxProvider): Promise<SandboxId> {
  await using runtime = await running(provider);
  return runtime.id;
}

async function written(provider: SandboxProvider, id: SandboxId, script: string): Promise<string> {
  await using runtime = await provider.open(id);
  await using process = await runtime.spawn({ argv: ['sh', '-c', script] });
  let text = '';
  for await (const { bytes } of process) text += new TextDecoder().decode(bytes);
  return text;
}

describe('a snapshot while the last user leaves', () => {
  it('is of the sandbox as it was left, however far its session has ended', async () => {
    await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory });
    for (const waitsFor of ['nothing', 'the end', 'nothing', 'the end']) {
      const runtime = await running(provider);
      const { id } = runtime;
      const process = await runtime.spawn({
        argv: ['sh', '-c', 'for i in $(seq 300); do echo $i >f$i; done; seq 300000 >file'],
      });
      await process.exit;
      const closing = runtime[Symbol.asyncDispose]();
      if (waitsFor === 'the end') await closing;
      const name = await provider.snapshots?.take(id);
      await closing;
      await written(provider, id, 'echo other >file');
      await provider.snapshots?.restore(id, name ?? '');
      expect(await written(provider, id, 'tail -n 1 file')).toBe('300000\n');
      await provider.remove(id);
      await provider.snapshots?.remove(name ?? '');
    }
  });
});

describe('a restore that is killed', () => {
  it('after the description went leaves a sandbox that a second restore, or a removal, is good for', async () => {
    await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory });
    const id = await made(provider);
    const name = await provider.snapshots?.take(id);
    await written(provider, id, 'echo two >file');
    const killed = overlayfs({
      host: dyingBefore('for layer in'),
      facts: await dyingBefore('for layer in').facts(),
      directory,
      ...byShell,
    });
    await expect(killed.snapshots?.restore(id, name ?? '')).rejects.toThrow('killed');
    expect(await provider.open(id).catch((error: unknown) => isLitterboxError(error, 'SANDBOX_BROKEN'))).toBe(true);
    await provider.snapshots?.restore(id, name ?? '');
    expect(await written(provider, id, 'cat file')).toBe('one\n');
    await expect(killed.snapshots?.restore(id, name ?? '')).rejects.toThrow('killed');
    await provider.remove(id);
    expect(readdirSync(join(directory, 'overlayfs/sandboxes'))).toEqual([]);
    await provider.snapshots?.remove(name ?? '');
    expect(readdirSync(join(directory, 'overlayfs/snapshots'))).toEqual([]);
  });

  (process.getuid?.() === 0 ? it : it.skip).each(['rename', 'mkdir', 'unlink', 'flock', 'fsync'])(
    'before any %s leaves the sandbox as it was, or one that a second restore is good for',
    async (call) => {
      const facts = await localHost().facts();
      await using provider = overlayfs({ host: localHost(), facts, directory });
      const id = await made(provider);
      const name = (await provider.snapshots?.take(id)) ?? '';
      let kills = 0;
      for (; ; kills++) {
        await written(provider, id, 'echo two >file; echo two >more; echo two >~/file');
        const host = dyingAt(call, kills + 1);
        await using killed = overlayfs({ host, facts, directory });
        const isWhole = await Promise.resolve(killed.snapshots?.restore(id, name)).then(
          () => true,
          () => false,
        );
        if (isWhole) break;
        const look = 'cat file more ~/file 2>/dev/null';
        const seen = await written(provider, id, look).catch((error: unknown) => (error as { code?: string }).code);
        expect(['two\ntwo\ntwo\n', 'one\n', 'SANDBOX_BROKEN']).toContain(seen);
        await provider.snapshots?.restore(id, name);
        expect(await written(provider, id, look)).toBe('one\n');
      }
      expect(kills).toBeGreaterThan(0);
      await provider.remove(id);
      await provider.snapshots?.remove(name);
      for (const place of ['sandboxes', 'snapshots'])
        expect(readdirSync(join(directory, 'overlayfs', place))).toEqual([]);
    },
    240_000,
  );

  it('a name that no snapshot can have is NOT_FOUND, whatever it leads to', async () => {
    await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory });
    const id = await made(provider);
    for (const name of ['..', '../sandboxes', `../sandboxes/${id}`, ''])
      await expect(provider.snapshots?.restore(id, name)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    for (const name of ['..', '../sandboxes', '']) await provider.snapshots?.remove(name);
    expect(await written(provider, id, 'cat file')).toBe('one\n');
    await provider.remove(id);
  });
});

describe('the list of snapshots', () => {
  it('has those of an earlier release, and none that is damaged or not ours', async () => {
    await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory });
    const id = await made(provider);
    const snapshots = provider.snapshots;
    const [older = '', damaged = ''] = [await snapshots?.take(id, { note: 'gone' }), await snapshots?.take(id)];
    const place = (name: string, file: string) => join(directory, 'overlayfs/snapshots', name, file);
    rmSync(place(older, 'kept.json'));
    writeFileSync(place(damaged, 'kept.json'), '{"sandbox":');
    mkdirSync(place('somebody', ''));
    const kept = [];
    for await (const one of snapshots?.list() ?? []) kept.push(one);
    expect(kept).toEqual([{ name: older, sandbox: id, takenAtMs: expect.any(Number) }]);
    expect(Math.abs((kept[0]?.takenAtMs ?? 0) - Date.now())).toBeLessThan(86_400_000);
    rmSync(place('somebody', ''), { recursive: true });
    for (const name of [older, damaged]) await snapshots?.remove(name);
    await provider.remove(id);
  });
});
