import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe as describeAlways, expect, it } from '@jest/globals';
import { collected, eventually, fixtureWorkspace, forBackend } from '@litterbox/conformance';
import {
  type Host,
  SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { removeTree } from '@litterbox/linux-sandbox';
import { overlayfs } from '../src/index.ts';
import { zfs as zfsStrategy } from '../src/strategies/zfs.ts';
import { absence, backendDirectory, removeBackend, zfs } from './backends.ts';
import { workspaceOver } from './over-workspace.ts';
import { rewritten } from './rewritten.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const MIB = 2 ** 20;
const WORKSPACE = fixtureWorkspace('b7b7b7b7', [{ path: 'file', content: 'one\n' }]);

const host = localHost();
const facts = await host.facts();
let directory = '';
beforeAll(async () => {
  directory = await backendDirectory('zfs');
});
afterAll(() => removeBackend(directory));

const { describe } = await forBackend('overlayfs-zfs', { describe: describeAlways, it, afterAll }, () =>
  absence(host, 'zfs'),
);

const providerOn = (on: Host = host): SandboxProvider => overlayfs({ host: on, facts, directory, strategy: 'zfs' });
const below = (...names: readonly string[]) => join(directory, 'overlayfs', ...names);
const specOf = (id: SandboxId, more: Partial<SandboxSpec> = {}) => sandboxSpec(id, { workspace: WORKSPACE, ...more });

/** The dataset above all of ours. */
const parent = () =>
  execFileSync('findmnt', ['-n', '-v', '-o', 'SOURCE', '-T', directory], { encoding: 'utf8' }).trim();
const markOf = (...names: readonly string[]) => readFileSync(below(...names, 'dataset'), 'utf8').split(' ')[0] ?? '';
const datasetOf = (...names: readonly string[]) => `${parent()}/${markOf(...names)}`;

/** Datasets and snapshots of ours that no base tree needs. */
function leftInPool(): readonly string[] {
  const trees = readdirSync(below('bases')).filter((name) => name.endsWith('.zfs'));
  const bases = trees.map((name) => markOf('bases', name));
  return zfs('list', '-H', '-o', 'name', '-r', '-t', 'all', parent())
    .split('\n')
    .filter((name) => name.startsWith(`${parent()}/`) && !bases.some((base) => basename(name).startsWith(base)));
}

/** All that is left of sandboxes, besides base trees and layers of what came along with their names. */
function left(): readonly string[] {
  const names = ['sandboxes', 'playgrounds', 'snapshots', 'bases'].flatMap((name) => {
    try {
      return readdirSync(below(name)).filter((entry) => !/^([0-9a-f]+\.zfs|a-[0-9a-f]{64})$/.test(entry));
    } catch {
      return []; // it was never made
    }
  });
  return [...names, ...leftInPool()];
}

async function sh(runtime: SandboxRuntime, script: string): Promise<string> {
  const { stdout, stderr, exit } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
  return exit.code === 0 ? stdout : `[${exit.code ?? exit.signal}] ${stderr}`;
}

async function inside(provider: SandboxProvider, id: SandboxId, script: string): Promise<string> {
  await using runtime = await provider.open(id);
  return await sh(runtime, script);
}

async function made(provider: SandboxProvider, spec: SandboxSpec, script: string): Promise<string> {
  await using runtime = await provider.create(spec);
  return await sh(runtime, script);
}

/** This machine, where every shell that comes to these words is killed there. */
function killedBefore(words: string, inProbe = false): { readonly host: Host; readonly killed: () => number } {
  let count = 0;
  const before = (word: string) => {
    if (!word.includes(words) || word.includes('.unfinished-probe-') !== inProbe) return word;
    count++;
    return word.replaceAll(words, () => `{ kill -9 $$; :; } && ${words}`);
  };
  return {
    host: { ...host, spawn: async (spec, options) => await host.spawn(rewritten(spec, before), options) },
    killed: () => count,
  };
}

describe('workspaces on ZFS', () => {
  it('are clones of a frozen base, and so are those of forks, kept setups and snapshots; nothing is left of them', async () => {
    await using provider = providerOn();
    const [id, fork, after] = [SandboxId.make(), SandboxId.make(), SandboxId.make()];
    const key = 'aa'.repeat(32);
    expect(await made(provider, specOf(id), 'echo two >file; echo mine >~/mine; cat file')).toBe('two\n');
    const snapshot = (await provider.snapshots?.take(id)) ?? '';
    expect(await made(provider, specOf(fork, { copyOf: id }), 'cat file ~/mine; echo three >file')).toBe('two\nmine\n');
    await provider.setups?.keep(id, key);
    {
      await using prepared = await provider.create(specOf(after, { prepared: [key] }));
      expect(prepared.prepared).toBe(key);
      expect(await sh(prepared, 'cat file ~/mine')).toBe('two\nmine\n');
    }
    await provider.snapshots?.restore(fork, snapshot);
    expect(await inside(provider, fork, 'cat file')).toBe('two\n');
    const base = datasetOf('bases', 'b7b7b7b7.zfs');
    for (const place of [
      ['sandboxes', id],
      ['sandboxes', fork],
      ['sandboxes', after],
      ['snapshots', snapshot],
    ])
      expect(zfs('get', '-H', '-o', 'value', 'origin', datasetOf(...place, 'disk'))).not.toBe('-\n');
    expect(zfs('get', '-H', '-o', 'value', 'origin', datasetOf('sandboxes', id, 'disk'))).toContain(base);
    for (const one of [id, fork, after]) await provider.remove(one);
    await provider.snapshots?.remove(snapshot);
    const [setup = ''] = readdirSync(below('setups/zfs'));
    expect(left().filter((name) => !name.includes(markOf('setups/zfs', setup, 'disk')))).toEqual([]);
  });

  it('outlive what they were copied from, whatever is removed first', async () => {
    await using provider = providerOn();
    const [first, second, third] = [SandboxId.make(), SandboxId.make(), SandboxId.make()];
    const workspace = fixtureWorkspace('d00d00d0', [{ path: 'file', content: 'one\n' }]);
    await made(provider, specOf(first, { workspace }), 'echo 1 >first');
    await made(provider, specOf(second, { workspace, copyOf: first }), 'echo 2 >second');
    await inside(provider, first, 'echo 3 >>first');
    await made(provider, specOf(third, { workspace, copyOf: first }), 'echo 3 >third');
    zfs('snapshot', '-r', `${parent()}@of-a-person`);
    await provider.remove(first);
    expect(await inside(provider, second, 'cat first second')).toBe('1\n2\n');
    expect(await inside(provider, third, 'cat first third')).toBe('1\n3\n3\n');
    await provider.remove(third);
    expect(await inside(provider, second, 'cat file')).toBe('one\n');
    await provider.remove(second);
    zfs('destroy', '-r', `${parent()}@of-a-person`);
    expect(left().filter((name) => !name.includes('setups'))).toEqual(keptSetups());
  });

  it('lose bases that nobody stands on, but for the three newest, and a base outlives nobody whose setup it was', async () => {
    await using provider = providerOn();
    const ids: SandboxId[] = [];
    for (const digit of '12345') {
      const workspace = fixtureWorkspace(`ba5e${digit}`, [{ path: 'file', content: `${digit}\n` }]);
      const id = SandboxId.make();
      await made(provider, specOf(id, { workspace }), 'true');
      await provider.setups?.keep(id, digit.repeat(64));
      ids.push(id);
    }
    for (const id of ids) await provider.remove(id);
    expect(readdirSync(below('bases')).sort()).toEqual(['ba5e3.zfs', 'ba5e4.zfs', 'ba5e5.zfs']);
    expect(left()).toEqual(keptSetups());
  });

  it('are mounted nowhere on the machine, and lead to no snapshots', async () => {
    await using provider = providerOn();
    const id = SandboxId.make();
    {
      await using runtime = await provider.create(specOf(id));
      await provider.snapshots?.take(id).then(async (name) => await provider.snapshots?.remove(name));
      expect(await sh(runtime, 'cat file; ls -a . ~ $LITTERBOX_PLAYGROUND; grep -c " zfs " /proc/mounts')).toMatch(
        /^one\n[^]*[1-9]\n$/,
      );
      expect(await sh(runtime, 'ls .zfs ~/.zfs ../.zfs')).toMatch(/^\[2\]/);
      expect(await sh(runtime, 'mkdir .zfs && echo mine >.zfs/file && cat .zfs/file')).toBe('mine\n');
      expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain('/litterbox-0');
      expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(markOf('sandboxes', id, 'disk'));
      const others = spawnSync('sh', ['-c', 'cat /proc/[0-9]*/mountinfo 2>/dev/null'], {
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      });
      expect(others.stdout).toContain(markOf('sandboxes', id, 'disk')); // the control
    }
    await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });

  it('what is mapped and written to is in a fork', async () => {
    await using provider = providerOn();
    const [id, fork] = [SandboxId.make(), SandboxId.make()];
    {
      await using runtime = await provider.create(specOf(id));
      const program = `import mmap,time,sys
f=open("mapped","w+b"); f.truncate(4096); m=mmap.mmap(f.fileno(),4096); m[0:7]=b"written"; print("ready",flush=True); time.sleep(600)`;
      await using writer = await runtime.spawn({ argv: ['python3', '-c', program] });
      for await (const { bytes } of writer) if (new TextDecoder().decode(bytes).includes('ready')) break;
      expect(await made(provider, specOf(fork, { copyOf: id }), 'head -c 7 mapped')).toBe('written');
    }
    for (const one of [id, fork]) await provider.remove(one);
    expect(left()).toEqual(keptSetups());
  });
});

const OLDER = fixtureWorkspace('0d0d0d0d', [
  { path: 'file', content: 'one\n' },
  { path: 'gone/inside', content: 'x\n' },
  { path: 'link', linkTarget: '/tmp' },
  { path: 'large', content: 'x'.repeat(4 * MIB) },
]);
const DIFFERENCE =
  "echo two >file; mknod gone c 0 0; mkdir link; echo inside >link/in; find . -exec touch -h -d '@1610612736' {} +";
/** Another commit than {@link OLDER}, under a key of its own. */
const newer = (key: string) =>
  workspaceOver(
    OLDER.key,
    DIFFERENCE,
    fixtureWorkspace(key, [
      { path: 'file', content: 'two\n' },
      { path: 'link/in', content: 'inside\n' },
      { path: 'large', content: 'x'.repeat(4 * MIB) },
    ]),
  );
const LOOK = 'find . -printf "%y %P %m %u %s %l\\n" | sort; cat file link/in; cksum <large';

describe('a base of another commit on ZFS', () => {
  it('is a clone of the nearest one with what differs, and holds what the commit holds', async () => {
    await using provider = providerOn();
    const [first, second, whole] = [SandboxId.make(), SandboxId.make(), SandboxId.make()];
    const before = await made(provider, specOf(first, { workspace: OLDER }), LOOK.replace(' link/in', ''));
    const workspace = newer('0e0e0e0e');
    const { nearest: _near, openOver: _over, ...alone } = newer('0f0f0f0f');
    const seen = await made(provider, specOf(second, { workspace }), LOOK);
    expect(seen).toBe(await made(provider, specOf(whole, { workspace: alone }), LOOK));
    expect(await inside(provider, first, LOOK.replace(' link/in', ''))).toBe(before);
    expect(existsSync('/tmp/in')).toBe(false);
    const [older, base] = [datasetOf('bases', '0d0d0d0d.zfs'), datasetOf('bases', '0e0e0e0e.zfs')];
    expect(zfs('get', '-H', '-o', 'value', 'origin', base)).toContain(older);
    expect(zfs('get', '-H', '-o', 'value', 'origin', datasetOf('bases', '0f0f0f0f.zfs'))).toBe('-\n');
    expect(Number(zfs('get', '-H', '-p', '-o', 'value', 'written', base))).toBeLessThan(MIB);
    for (const id of [first, second, whole]) await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });

  it.each<readonly [which: string, gone: string, kept: string]>([
    ['the older one', '0d0d0d0d', '1e1e1e1e'],
    ['the one that was made of it', '2e2e2e2e', '0d0d0d0d'],
  ])('outlives the other one when %s goes, and so do the sandboxes on both', async (_which, gone, kept) => {
    await using provider = providerOn();
    const [first, second] = [SandboxId.make(), SandboxId.make()];
    const key = gone === OLDER.key ? kept : gone;
    await made(provider, specOf(first, { workspace: OLDER }), 'echo 1 >mine');
    await made(provider, specOf(second, { workspace: newer(key) }), 'echo 2 >mine');
    const dataset = datasetOf('bases', `${gone}.zfs`);
    const remove = `${removeTree(zfsStrategy.baseKind ? [zfsStrategy.baseKind] : [])}remove_tree "$0"`;
    execFileSync('sh', ['-c', remove, below('bases', `${gone}.zfs`)]);
    expect(() => zfs('list', dataset)).toThrow();
    expect(await inside(provider, first, 'cat file mine')).toBe('one\n1\n');
    expect(await inside(provider, second, 'cat file mine')).toBe('two\n2\n');
    for (const id of [first, second]) await provider.remove(id);
    const third = SandboxId.make();
    const workspace = kept === OLDER.key ? OLDER : newer(kept);
    expect(await made(provider, specOf(third, { workspace }), 'cat file')).toBe(kept === OLDER.key ? 'one\n' : 'two\n');
    await provider.remove(third);
    expect(left()).toEqual(keptSetups());
  });

  it.each<readonly [where: string, words: string]>([
    ['it is cloned', 'lb_zfs clone'],
    ['the difference is put in', 'mount -o remount,bind,nosuid'],
    ['its locks are let go', 'exec 6<&-'],
    ['it takes the place of the difference', 'mv -T'],
    ['it is frozen', 'lb_freeze .'],
  ])('leaves nothing that the next removal does not take, after a kill before %s', async (_where, words) => {
    await using provider = providerOn();
    const [first, second] = [SandboxId.make(), SandboxId.make()];
    await made(provider, specOf(first, { workspace: OLDER }), 'true');
    const { host: deadly, killed } = killedBefore(words);
    await using dying = providerOn(deadly);
    const key = crypto.randomUUID().replaceAll('-', '');
    const runtime = await dying.create(specOf(second, { workspace: newer(key) })).catch(() => undefined);
    await runtime?.[Symbol.asyncDispose](); // the whole tree was unpacked instead
    expect(killed()).toBeGreaterThan(0);
    for (const id of [first, second]) await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });
});

describe('a snapshot on ZFS', () => {
  it('takes what was changed, which is told apart from what it shares', async () => {
    await using provider = providerOn();
    const id = SandboxId.make();
    const workspace = fixtureWorkspace('c0c0c0c0', [{ path: 'large', content: 'x'.repeat(MIB) }]);
    await made(provider, specOf(id, { workspace }), 'head -c 262144 /dev/urandom >~/here; cp ~/here here; sync');
    const name = (await provider.snapshots?.take(id)) ?? '';
    const usage = async () => (await provider.snapshots?.usage([name]))?.get(name);
    const { diskBytes = 0, ownBytes = -1 } = (await usage()) ?? {};
    expect(diskBytes).toBeGreaterThan(2 ** 19);
    expect(ownBytes).toBeGreaterThanOrEqual(0);
    expect(ownBytes).toBeLessThan(2 ** 17);
    await inside(provider, id, 'rm here; sync');
    // The sandbox has it no more, and the snapshot alone holds it.
    const alone = await eventually(
      async () => (await usage())?.ownBytes ?? 0,
      (own) => own > 2 ** 18,
    );
    expect(alone).toBeLessThan(2 ** 19);
    await provider.remove(id);
    const after = await eventually(
      async () => (await usage())?.ownBytes ?? 0,
      (own) => own > 2 ** 19,
    );
    expect(after).toBeLessThan(2 ** 20);
    await provider.snapshots?.remove(name);
    expect(left()).toEqual(keptSetups());
  });
});

describe('probing tells on ZFS', () => {
  it('of datasets of a state directory that was removed by hand', async () => {
    const removed = join(directory, 'removed');
    await using provider = overlayfs({ host, facts, directory: removed, strategy: 'zfs' });
    const id = SandboxId.make();
    await made(provider, specOf(id), 'true');
    const finding = async () => (await provider.probe()).checks.map((check) => check.finding).join('\n');
    expect(await finding()).not.toContain('by hand');
    const sets = ['bases/b7b7b7b7.zfs', `sandboxes/${id}/disk`].map(
      (name) => readFileSync(join(removed, 'overlayfs', name, 'dataset'), 'utf8').split(' ')[0],
    );
    rmSync(removed, { recursive: true });
    expect(await finding()).toMatch(/names them: 2\. They were made below .*\/removed\/overlayfs,/);
    for (const name of sets.toReversed()) zfs('destroy', '-r', `${parent()}/${name}`);
    expect(await finding()).not.toContain('by hand');
    rmSync(removed, { recursive: true, force: true });
  });
});

/** What kept setups of the tests before have in the pool. */
function keptSetups(): readonly string[] {
  const names = existsSync(below('setups/zfs')) ? readdirSync(below('setups/zfs')) : [];
  const kept = names.map((name) => markOf('setups/zfs', name, 'disk'));
  return leftInPool().filter((name) => kept.some((mark) => name.includes(mark)));
}

describe('a kill at any point leaves nothing on ZFS that the next removal does not take', () => {
  it.each<readonly [where: string, words: string, inProbe?: boolean]>([
    ['a probe makes its dataset', 'lb_zfs create', true],
    ['a probe cleans up', 'lb_drop "$d"', true],
    ['the base is made', 'lb_zfs create'],
    ['the base is unpacked', 'exec setpriv'],
    ['the base is frozen', 'lb_freeze .'],
    ['the base gets its name', 'mv -T'],
    ['the workspace is cloned', 'lb_zfs clone'],
    ['the sandbox gets its name', 'mv -T "$lb_unfinished"'],
  ])('before %s', async (_where, words, inProbe = false) => {
    const workspace = fixtureWorkspace(crypto.randomUUID().replaceAll('-', ''), [{ path: 'file', content: 'one\n' }]);
    const { host: deadly, killed } = killedBefore(words, inProbe);
    await using dying = providerOn(deadly);
    const id = SandboxId.make();
    await expect(dying.create(specOf(id, { workspace }))).rejects.toThrow();
    expect(killed()).toBeGreaterThan(0);
    await using provider = providerOn();
    await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });

  it.each<readonly [where: string, words: string]>([
    ['the copy is begun', 'mkdir -p "$2" && ( export'],
    ['its snapshot is taken', 'lb_zfs snapshot'],
    ['its clone is made', 'lb_zfs clone'],
    ['its snapshot is given away', 'zfs destroy -d "$lb_parent/$lb_from'],
  ])('before %s', async (_where, words) => {
    await using provider = providerOn();
    const [id, fork] = [SandboxId.make(), SandboxId.make()];
    await made(provider, specOf(id), 'echo two >file');
    const { host: deadly, killed } = killedBefore(words);
    await using dying = providerOn(deadly);
    await expect(dying.create(specOf(fork, { copyOf: id }))).rejects.toThrow();
    await expect(dying.snapshots?.take(id)).rejects.toThrow();
    expect(killed()).toBeGreaterThan(1);
    const name = (await provider.snapshots?.take(id)) ?? '';
    await provider.snapshots?.remove(name);
    await provider.remove(fork);
    expect(await inside(provider, id, 'cat file')).toBe('two\n');
    await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });

  it('before and behind the end of a dataset', async () => {
    for (const words of ['lb_drop "$lb_above/disk"', 'rm -f "$1/dataset"']) {
      await using provider = providerOn();
      const id = SandboxId.make();
      await made(provider, specOf(id), 'true');
      const { host: deadly } = killedBefore(words);
      await using dying = providerOn(deadly);
      await expect(dying.remove(id)).rejects.toThrow();
      await provider.remove(id);
      expect({ words, left: left() }).toEqual({ words, left: keptSetups() });
    }
  });
});

describe('what cannot be done on ZFS is said', () => {
  it('a dataset that is mounted in a mount namespace of somebody else', async () => {
    await using provider = providerOn();
    const id = SandboxId.make();
    await made(provider, specOf(id), 'true');
    const place = join(directory, 'elsewhere');
    mkdirSync(place);
    const hold = 'mount -t zfs "$0" "$1" && echo ready && exec sleep 3600';
    const argv = ['unshare', '-m', '--propagation', 'private', 'sh', '-c', hold] as const;
    const dataset = datasetOf('sandboxes', id, 'disk');
    {
      await using holder = await host.spawn({ argv: [...argv, dataset, place] });
      for await (const { bytes } of holder) if (new TextDecoder().decode(bytes).includes('ready')) break;
      const hint = expect.stringContaining(`grep ${markOf('sandboxes', id, 'disk')} /proc/`);
      await expect(provider.remove(id)).rejects.toMatchObject({ code: 'BUSY', details: { hint } });
      expect(zfs('list', '-H', '-o', 'name', dataset)).toBe(`${dataset}\n`);
    }
    await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });

  it('a full pool', async () => {
    await using provider = providerOn();
    const id = SandboxId.make();
    zfs('set', 'quota=1M', parent());
    try {
      const workspace = fixtureWorkspace('f011f011', [{ path: 'file', content: 'x'.repeat(2 * MIB) }]);
      await expect(provider.create(specOf(id, { workspace }))).rejects.toMatchObject({ code: 'DISK_FULL' });
    } finally {
      zfs('set', 'quota=none', parent());
    }
    await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });
});

describe('the limit of disk on ZFS', () => {
  const limits = { diskBytes: 16 * MIB };

  it('is a quota over what the base holds, for workspace, home and playground together', async () => {
    await using provider = providerOn();
    const [id, fork] = [SandboxId.make(), SandboxId.make()];
    const workspace = fixtureWorkspace('b16b16b1', [{ path: 'large', content: 'x'.repeat(24 * MIB) }]);
    await using runtime = await provider.create(specOf(id, { workspace, limits }));
    const { controls } = await runtime.assurance();
    expect(controls.find(({ name }) => name === 'disk')).toMatchObject({
      status: 'enforced',
      finding: 'workspace, home and playground hold at most 16 MiB together',
    });
    expect(await sh(runtime, 'head -c 8000000 /dev/urandom >~/half && wc -c <large')).toBe(`${24 * MIB}\n`);
    expect(await sh(runtime, 'head -c 12000000 /dev/urandom 2>&1 >$LITTERBOX_PLAYGROUND/more; sync')).toMatch(
      /Disk quota exceeded/,
    );
    await using copy = await provider.create(specOf(fork, { workspace, limits, copyOf: id }));
    expect(
      await sh(
        copy,
        'wc -c <~/half; rm ~/half $LITTERBOX_PLAYGROUND/more; sync; head -c 20000000 /dev/urandom >~/other',
      ),
    ).toMatch(/Disk quota exceeded/);
    for (const one of [runtime, copy]) {
      await one[Symbol.asyncDispose]();
      await provider.remove(one.id);
    }
    expect(left()).toEqual(keptSetups());
  });

  it("is on top of what came along, which is the sandbox user's own", async () => {
    await using provider = providerOn();
    const id = SandboxId.make();
    const path = join(directory, 'tree-of-a-person');
    mkdirSync(join(path, 'built'), { recursive: true });
    writeFileSync(join(path, 'built/large'), randomBytes(2 * MIB));
    const newer = fixtureWorkspace('e0', []);
    const artefacts = { source: { host, path }, paths: ['built'], newerThan: async () => newer };
    await using runtime = await provider.create(specOf(id, { limits, artefacts }));
    expect(await sh(runtime, 'wc -c <built/large; cat file; stat -c %U built built/large')).toBe(
      `${2 * MIB}\none\nagent\nagent\n`,
    );
    const { controls } = await runtime.assurance();
    expect(controls.find(({ name }) => name === 'disk')).toMatchObject({
      status: 'enforced',
      finding: 'workspace, home and playground hold at most 16 MiB together',
    });
    const quota = Number(zfs('get', '-H', '-p', '-o', 'value', 'refquota', datasetOf('sandboxes', id, 'disk')));
    expect(quota).toBeGreaterThan(18 * MIB);
    expect(quota).toBeLessThan(20 * MIB);
    await runtime[Symbol.asyncDispose]();
    await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });

  it('keeps the playground for the sandbox that follows, and that alone', async () => {
    await using provider = providerOn();
    const id = SandboxId.make();
    await made(
      provider,
      specOf(id, { limits }),
      'echo old >file; echo old >~/file; echo kept >$LITTERBOX_PLAYGROUND/file',
    );
    await provider.remove(id, { keepPlayground: true });
    const said = await made(
      provider,
      specOf(id, { limits }),
      'cat file; ls -A ~; cat $LITTERBOX_PLAYGROUND/file; echo more >>$LITTERBOX_PLAYGROUND/file',
    );
    expect(said).toBe('one\nkept\n');
    await provider.remove(id, { keepPlayground: true });
    expect(await made(provider, specOf(id, { limits }), 'cat $LITTERBOX_PLAYGROUND/file')).toBe('kept\nmore\n');
    await provider.remove(id);
    expect(left()).toEqual(keptSetups());
  });
});

describe('an agent on ZFS', () => {
  it('names no dataset, whatever it leaves where things are removed', async () => {
    await using provider = providerOn();
    const [victim, id] = [SandboxId.make(), SandboxId.make()];
    await made(provider, specOf(victim), 'echo two >file');
    const mark = readFileSync(below('sandboxes', victim, 'disk/dataset'), 'utf8').trim();
    const places =
      '. ./disk ./restored/disk ~ ~/disk $LITTERBOX_PLAYGROUND $LITTERBOX_PLAYGROUND/disk $LITTERBOX_PLAYGROUND/restored/disk';
    await made(
      provider,
      specOf(id),
      `for d in ${places}; do mkdir -p $d; echo '${mark}' >$d/dataset; done; ln -s '${below('sandboxes', victim)}' $LITTERBOX_PLAYGROUND/old-disk`,
    );
    await provider.remove(id);
    expect(await inside(provider, victim, 'cat file')).toBe('two\n');
    await provider.remove(victim);
    expect(left()).toEqual(keptSetups());
  });
});
