import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe as describeAlways, expect, it } from '@jest/globals';
import { collected, eventually, fixtureWorkspace, forBackend } from '@litterbox/conformance';
import {
  type Host,
  type ProbeReport,
  SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { removeTree } from '@litterbox/linux-sandbox';
import { overlayfs } from '../src/index.ts';
import { btrfs } from '../src/strategies/btrfs.ts';
import { reflink } from '../src/strategies/copy.ts';
import type { Strategy } from '../src/strategies/strategy.ts';
import { absence, backendDirectory, isRoot, removeBackend } from './backends.ts';
import { rewritten } from './rewritten.ts';
import { sandboxSpec } from './sandbox-spec.ts';

/** Number of the top directory of every subvolume. */
const SUBVOLUME = 256;
const WORKSPACE = fixtureWorkspace('b7b7b7b7', [{ path: 'file', content: 'one\n' }]);

const host = localHost();
const facts = await host.facts();
let directory = '';
beforeAll(async () => {
  directory = await backendDirectory('btrfs');
});
afterAll(() => removeBackend(directory));

const { describe } = await forBackend('overlayfs-btrfs', { describe: describeAlways, it, afterAll }, () =>
  absence(host, 'btrfs'),
);

const providerOn = (on: Host = host): SandboxProvider => overlayfs({ host: on, facts, directory, strategy: 'btrfs' });
const below = (...names: readonly string[]) => join(directory, 'overlayfs', ...names);
const isSubvolume = (path: string) => statSync(path).ino === SUBVOLUME;

/** What there is in the directory, besides base trees with their names. */
function leftIn(name: string): readonly string[] {
  try {
    return readdirSync(below(name)).filter((entry) => !/^[0-9a-f]+\.btrfs$/.test(entry));
  } catch {
    return []; // it was never made
  }
}

async function sh(runtime: SandboxRuntime, script: string): Promise<string> {
  const { stdout, stderr, exit } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
  return exit.code === 0 ? stdout : `[${exit.code ?? exit.signal}] ${stderr}`;
}

/** This machine, where every shell that comes to these words, in a probe or elsewhere, is killed there. */
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

/** System calls that it takes to prepare a workspace of that many files. */
function callsToPrepare(strategy: Strategy, files: number): number {
  const place = mkdtempSync(join(directory, 'calls-'));
  const base = join(place, 'base');
  execFileSync('btrfs', ['subvolume', 'create', base]);
  for (let index = 0; index < files; index++) writeFileSync(join(base, `file-${index}`), `${index}\n`);
  execFileSync('sync', ['-f', base]);
  const sandbox = join(place, 'sandbox');
  mkdirSync(join(sandbox, 'ws'), { recursive: true });
  const count = join(place, 'count');
  const script = `set -e\n${strategy.prepare({ base })}`;
  execFileSync('strace', ['-f', '-c', '-o', count, 'sh', '-c', script], { cwd: sandbox });
  expect(readdirSync(join(sandbox, 'ws'))).toHaveLength(files);
  const total = /([0-9]+)(?:\s+[0-9]+)?\s+total/.exec(execFileSync('cat', [count], { encoding: 'utf8' }));
  rmSync(place, { recursive: true });
  return Number(total?.[1]);
}

describe('workspaces on Btrfs', () => {
  it('are made by as many system calls whatever the number of files, where a copy takes some for each', () => {
    const files = 2000;
    expect(callsToPrepare(reflink, files) - callsToPrepare(reflink, 1)).toBeGreaterThan(files); // the control
    expect(callsToPrepare(btrfs, files) - callsToPrepare(btrfs, 1)).toBeLessThan(files / 20);
  });

  it('have snapshots that take what was changed, and are told apart from what they share', async () => {
    await using provider = providerOn();
    const id = SandboxId.make();
    const large = fixtureWorkspace('b7b7c8c8', [{ path: 'large', content: 'x'.repeat(2 ** 20) }]);
    {
      await using runtime = await provider.create(sandboxSpec(id, { workspace: large, allowDegraded: true }));
      await sh(runtime, 'head -c 262144 /dev/urandom >~/here; head -c 262144 /dev/urandom >here; sync');
    }
    const name = (await provider.snapshots?.take(id)) ?? '';
    const { diskBytes = 0, ownBytes = -1 } = (await provider.snapshots?.usage([name]))?.get(name) ?? {};
    expect(diskBytes).toBeGreaterThan(2 ** 20);
    expect(ownBytes).toBeGreaterThanOrEqual(0);
    expect(ownBytes).toBeLessThan(2 ** 18);
    await provider.remove(id);
    // Nobody else has what was changed any more, once Btrfs has removed the subvolume, which it does in the background.
    const after = await eventually(
      async () => {
        spawnSync('sync', ['-f', directory]);
        return (await provider.snapshots?.usage([name]))?.get(name)?.ownBytes ?? 0;
      },
      (bytes) => bytes >= 2 ** 19,
      60_000,
    );
    expect(after).toBeLessThan(2 ** 20);
    await provider.snapshots?.remove(name);
    expect(await provider.snapshots?.usage([name])).toEqual(new Map());
  });

  it('are snapshots of a base that nobody can write to, and so are those of forks and kept setups', async () => {
    await using provider = providerOn();
    const [id, fork, after] = [SandboxId.make(), SandboxId.make(), SandboxId.make()];
    const key = 'aa'.repeat(32);
    {
      await using runtime = await provider.create(sandboxSpec(id, { workspace: WORKSPACE, allowDegraded: true }));
      expect(await sh(runtime, 'echo two >file; echo new >new; cat file')).toBe('two\n');
    }
    expect(() => writeFileSync(below('bases', 'b7b7b7b7.btrfs', 'file'), 'no')).toThrow('EROFS');
    {
      await using copy = await provider.create(
        sandboxSpec(fork, { workspace: WORKSPACE, copyOf: id, allowDegraded: true }),
      );
      expect(await sh(copy, 'cat file new; echo three >file')).toBe('two\nnew\n');
    }
    await provider.setups?.keep(id, key);
    {
      const spec = sandboxSpec(after, { workspace: WORKSPACE, prepared: [key], allowDegraded: true });
      await using prepared = await provider.create(spec);
      expect(prepared.prepared).toBe(key);
      expect(await sh(prepared, 'cat file new')).toBe('two\nnew\n');
    }
    for (const one of [id, fork, after]) expect(isSubvolume(below('sandboxes', one, 'ws'))).toBe(true);
    const [setup = ''] = readdirSync(below('setups/btrfs'));
    expect(isSubvolume(below('setups/btrfs', setup, 'ws'))).toBe(true);
    for (const one of [id, fork, after]) await provider.remove(one);
    expect(leftIn('sandboxes')).toEqual([]);
    expect(leftIn('playgrounds')).toEqual([]);
  });

  it('lose bases that nobody stands on, but for the three newest', async () => {
    await using provider = providerOn();
    const ids: SandboxId[] = [];
    for (const digit of '12345') {
      const workspace = fixtureWorkspace(`ba5e0${digit}`, [{ path: 'file', content: `${digit}\n` }]);
      const id = SandboxId.make();
      await (await provider.create(sandboxSpec(id, { workspace, allowDegraded: true })))[Symbol.asyncDispose]();
      ids.push(id);
    }
    for (const id of ids) await provider.remove(id);
    expect(readdirSync(below('bases')).sort()).toEqual(['ba5e03.btrfs', 'ba5e04.btrfs', 'ba5e05.btrfs']);
  });

  it('are snapshots again when one was restored; an ordinary directory can be forked and removed too', async () => {
    await using provider = providerOn();
    const [id, fork] = [SandboxId.make(), SandboxId.make()];
    const spec = sandboxSpec(id, { workspace: WORKSPACE, allowDegraded: true });
    await (await provider.create(spec))[Symbol.asyncDispose]();
    const name = await provider.snapshots?.take(id);
    await provider.snapshots?.restore(id, name ?? '');
    const ws = below('sandboxes', id, 'ws');
    expect(isSubvolume(ws)).toBe(true);
    execFileSync('sh', ['-c', 'cp -a "$0" "$0-ordinary" && rm -r "$0" && mv -T "$0-ordinary" "$0"', ws]); // as earlier releases did
    expect(isSubvolume(ws)).toBe(false);
    {
      await using copy = await provider.create({ ...spec, id: fork, playground: fork, copyOf: id });
      expect(await sh(copy, 'cat file')).toBe('one\n');
    }
    for (const one of [id, fork]) await provider.remove(one);
    await provider.snapshots?.remove(name ?? '');
    expect([...leftIn('sandboxes'), ...leftIn('snapshots')]).toEqual([]);
  });
});

describe('a kill at any point leaves nothing on Btrfs that the next removal does not take', () => {
  it.each<readonly [where: string, words: string, inProbe?: boolean]>([
    ['a probe freezes', 'btrfs property set -ts . ro true', true],
    ['a probe clones', 'btrfs subvolume snapshot', true],
    ['a probe cleans up', 'btrfs subvolume delete', true],
    ['the base is frozen', 'btrfs property set -ts . ro true'],
    ['the base gets its name', 'mv -T'],
    ['the workspace is cloned', 'btrfs subvolume snapshot'],
    ['the clone is noted', ': >has-subvolume'],
    ['the sandbox gets its name', 'mv -T "$lb_unfinished"'],
  ])('before %s', async (_where, words, inProbe = false) => {
    const workspace = fixtureWorkspace(crypto.randomUUID().replaceAll('-', ''), [{ path: 'file', content: 'one\n' }]);
    const { host: deadly, killed } = killedBefore(words, inProbe);
    await using dying = providerOn(deadly);
    const id = SandboxId.make();
    await expect(dying.create(sandboxSpec(id, { workspace, allowDegraded: true }))).rejects.toThrow();
    expect(killed()).toBeGreaterThan(0);
    await using provider = providerOn();
    await provider.remove(id);
    expect([...leftIn('sandboxes'), ...leftIn('bases'), ...leftIn('playgrounds')]).toEqual([]);
  });

  it('before a sandbox is removed, and before a read-only tree is', async () => {
    const id = SandboxId.make();
    await using provider = providerOn();
    const spec = sandboxSpec(id, { workspace: WORKSPACE, allowDegraded: true });
    await (await provider.create(spec))[Symbol.asyncDispose]();
    const frozen = below('bases', `.unfinished-${crypto.randomUUID()}`);
    execFileSync('btrfs', ['subvolume', 'create', frozen]);
    writeFileSync(join(frozen, 'file'), '');
    execFileSync('btrfs', ['property', 'set', '-ts', frozen, 'ro', 'true']);
    expect(spawnSync('rm', ['-rf', frozen]).status).toBe(1); // the control
    const { host: deadly, killed } = killedBefore('btrfs subvolume delete');
    await using dying = providerOn(deadly);
    await expect(dying.remove(id)).rejects.toThrow();
    expect(killed()).toBeGreaterThan(0);
    expect(leftIn('sandboxes')).toEqual([`.unfinished-${id}`]);
    await provider.remove(SandboxId.make());
    expect([...leftIn('sandboxes'), ...leftIn('bases')]).toEqual([]);
  });
});

describe('an agent on Btrfs', () => {
  it('makes no subvolume, and cannot make its own one read-only', async () => {
    const place = mkdtempSync(join(directory, 'control-'));
    if (isRoot) chownSync(place, 61_100, 61_100);
    const outside = (...argv: readonly string[]) =>
      spawnSync('btrfs', [...argv], { cwd: place, ...(isRoot && { uid: 61_100, gid: 61_100 }) }).status;
    expect(outside('subvolume', 'create', 'own')).toBe(0); // the controls
    expect(outside('property', 'set', '-ts', 'own', 'ro', 'true')).toBe(0);
    expect(outside('property', 'set', '-ts', 'own', 'ro', 'false')).toBe(0);
    await using provider = providerOn();
    const id = SandboxId.make();
    await using runtime = await provider.create(sandboxSpec(id, { workspace: WORKSPACE, allowDegraded: true }));
    expect(await sh(runtime, 'command -v btrfs')).toContain('btrfs');
    for (const command of [
      'btrfs subvolume create own',
      'btrfs subvolume create ~/own',
      'btrfs subvolume snapshot . own',
      'btrfs property set -ts . ro true',
    ])
      expect({ command, said: await sh(runtime, command) }).toMatchObject({
        command,
        said: expect.stringMatching(/^\[1\][^]*not permitted/),
      });
    expect(await sh(runtime, 'cp --reflink=always file clone && cat clone')).toBe('one\n');
    await provider.remove(id);
    expect(leftIn('sandboxes')).toEqual([]);
  });
});

it('removing what an agent made follows none of its links to a subvolume', async () => {
  const place = mkdtempSync(join(directory, 'links-'));
  const [subvolume, made] = [join(place, 'subvolume'), join(place, 'made')];
  execFileSync('btrfs', ['subvolume', 'create', subvolume]);
  mkdirSync(made);
  writeFileSync(join(made, 'has-subvolume'), '');
  symlinkSync(subvolume, join(made, 'ws'));
  const removal = removeTree(btrfs.baseKind ? [btrfs.baseKind] : []);
  execFileSync('sh', ['-c', `${removal}remove_tree "$0"`, made]);
  expect(readdirSync(place)).toEqual(['subvolume']);
  rmSync(place, { recursive: true });
});

describe('probing for Btrfs', () => {
  const strategyIn = ({ checks }: ProbeReport) => checks.findLast(({ name }) => name.startsWith('copy-on-write'));

  it('says where the state directory is instead', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'litterbox-btrfs-'));
    await using provider = overlayfs({ host, facts, directory: elsewhere, strategy: 'btrfs' });
    const report = await provider.probe();
    await expect(provider.create(sandboxSpec(SandboxId.make()))).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      details: { hint: expect.stringMatching(/is not on Btrfs, but on .*\. Keep the state directory/) },
    });
    rmSync(elsewhere, { recursive: true });
    expect({ usable: report.usable, check: strategyIn(report) }).toMatchObject({
      usable: false,
      check: {
        finding: expect.stringContaining('is not on Btrfs, but on '),
        remedy: expect.stringContaining('btrfs-progs'),
      },
    });
  });

  it('says that the program is missing', async () => {
    const without = (word: string) => word.replace('command -v btrfs', 'command -v no-such-program');
    const poor: Host = { ...host, spawn: async (spec, options) => await host.spawn(rewritten(spec, without), options) };
    await using provider = providerOn(poor);
    expect(strategyIn(await provider.probe())?.finding).toBe('the program btrfs is missing');
  });

  it('leaves nothing behind, and says what comes after the strategy that was taken', async () => {
    await using provider = providerOn();
    expect(await provider.probe()).toMatchObject({ usable: true });
    expect(leftIn('sandboxes')).toEqual([]);
    await using any = overlayfs({ host, facts, directory });
    expect(strategyIn(await any.probe())?.finding).toMatch(
      /^overlay works below .*; not tried: btrfs, zfs, reflink, copy$/,
    );
  });
});
