import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fixtureWorkspace } from '@litterbox/conformance';
import { type Host, type RuntimeStatus, SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { Fixture } from '@litterbox/testing';
import { listNamed } from '../src/script/list-named.ts';
import { STAGING_EXITS } from '../src/script/staging-exits.ts';
import {
  COPY_EXITS,
  DEFAULT_LIMITS,
  directoryLayout,
  type DirectoryDescription,
  SandboxDirectories,
} from '../src/index.ts';

const BASE = 'ba5eba5e';
const ENTRIES = 'mkdir home && : >home/file';

/** Directories of a provider below one whose name a shell would take apart. */
class DirectoriesFixture extends Fixture {
  readonly root = join(mkdtempSync(join(tmpdir(), 'litterbox-directories-')), "it's the provider's");
  /** Names of the members of the host that were called. */
  readonly calls: string[] = [];
  readonly directories: SandboxDirectories<DirectoryDescription>;

  /** @param name of the host */
  constructor(name = 'local') {
    super();
    this.directories = new SandboxDirectories({
      provider: 'test',
      host: counted({ ...localHost(), name }, this.calls),
      layout: directoryLayout(this.root),
    });
    this.defer(() => rmSync(join(this.root, '..'), { recursive: true, force: true }));
  }

  meta(id = SandboxId.make()): DirectoryDescription {
    return {
      version: 1,
      id,
      slug: 'test',
      repositoryId: '00000000-0000-4000-8000-000000000000',
      workdir: '/src',
      environment: { QUOTE: `it's "quoted" $HOME` },
      limits: DEFAULT_LIMITS,
      playground: id,
      allowDegraded: false,
    };
  }

  async staged(fill = ENTRIES): Promise<DirectoryDescription> {
    const meta = this.meta();
    expect(await this.directories.stage(meta, { fill: () => fill })).toBe('staged');
    return meta;
  }

  async listed(): Promise<readonly RuntimeStatus[]> {
    return await listed(this.directories);
  }

  in(id: SandboxId, name = ''): string {
    return join(this.root, 'sandboxes', id, name);
  }

  /** Everything below the directory of sandboxes. */
  get names(): readonly string[] {
    return readdirSync(join(this.root, 'sandboxes'));
  }
}

async function listed(directories: SandboxDirectories<DirectoryDescription>): Promise<readonly RuntimeStatus[]> {
  const found: RuntimeStatus[] = [];
  for await (const status of directories.list()) found.push(status);
  return found;
}

function counted(host: Host, calls: string[]): Host {
  const count = <Member extends object>(member: Member): Member =>
    new Proxy(member, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        return (...words: unknown[]) => {
          calls.push(String(name));
          return Reflect.apply(value, of, words) as unknown;
        };
      },
    });
  return { ...host, spawn: count(host).spawn, files: count(host.files) };
}

it('a sandbox is made with all above it by one call of the host, and read back', async () => {
  await using fixture = new DirectoriesFixture();
  const meta = await fixture.staged();
  expect(fixture.calls).toEqual(['spawn']);
  expect(await fixture.directories.read(meta.id)).toEqual(meta);
  expect(readdirSync(fixture.in(meta.id)).sort()).toEqual(['home', 'meta.json']);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect([fixture.root, join(fixture.root, 'playgrounds'), fixture.in(meta.id)].map(mode)).toEqual([
    '700',
    '700',
    '711',
  ]);
});

it('says that the base tree is not there, and makes nothing', async () => {
  await using fixture = new DirectoriesFixture();
  const { directories } = fixture;
  const meta = fixture.meta();
  expect(await directories.stage(meta, { bases: [BASE], fill: () => ENTRIES })).toBe('base-missing');
  expect(fixture.names).toEqual([]);
  const workspace = fixtureWorkspace(BASE, [{ path: 'file', content: 'base\n' }]);
  await directories.stageOver(workspace, {}, meta, () => `cp -a ../../bases/${BASE}/file .`);
  expect(readFileSync(fixture.in(meta.id, 'file'), 'utf8')).toBe('base\n');
  // The second one finds it by the same call that makes the sandbox.
  fixture.calls.length = 0;
  await directories.stageOver(workspace, {}, fixture.meta(), () => ENTRIES);
  expect(fixture.calls).toEqual(['spawn']);
});

it('says that the state directory cannot be written to', async () => {
  await using fixture = new DirectoriesFixture();
  const { provider, host } = fixture.directories;
  const layout = directoryLayout('/sys/litterbox');
  const directories = new SandboxDirectories<DirectoryDescription>({ provider, host, layout });
  const staging = directories.stage(fixture.meta(), { fill: () => ENTRIES });
  await expect(staging).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
    message: expect.stringContaining('/sys/litterbox'),
  });
});

it('is not made on a network file system, on whichever host that is', async () => {
  await using fixture = new DirectoriesFixture();
  const { provider, layout, host } = fixture.directories;
  const onNfs: Host = {
    ...host,
    spawn: (spec, call) => {
      const [program, flag = '', script = '', ...rest] = spec.argv;
      return host.spawn(
        { ...spec, argv: [program, flag, script.replace('stat -f -c %t .', 'echo 6969'), ...rest] },
        call,
      );
    },
  };
  const directories = new SandboxDirectories<DirectoryDescription>({ provider, host: onNfs, layout });
  const staging = directories.stage(fixture.meta(), { fill: () => ENTRIES });
  await expect(staging).rejects.toMatchObject({
    code: 'UNSUPPORTED_FS',
    message: expect.stringContaining('is on NFS'),
  });
  expect(fixture.names).toEqual([]);
  await fixture.staged(); // the control: without NFS it is made
});

describe('base trees', () => {
  const keyOf = (number: number) => `ba5eba5e0${number}`;
  const bases = (fixture: DirectoriesFixture) =>
    readdirSync(join(fixture.root, 'bases'))
      .filter((name) => !name.startsWith('.'))
      .sort();
  /** One sandbox on each of so many base trees, made one after the other. */
  const over = async (fixture: DirectoriesFixture, count: number) => {
    const metas: (DirectoryDescription & { readonly base: string })[] = [];
    for (let number = 0; number < count; number += 1) {
      const meta = { ...fixture.meta(), base: keyOf(number) };
      const workspace = fixtureWorkspace(meta.base, [{ path: 'file', content: 'base\n' }]);
      await fixture.directories.stageOver(workspace, {}, meta, () => ENTRIES);
      metas.push(meta);
    }
    return metas;
  };

  it('go with the last sandbox that stands on them, but for the three newest', async () => {
    await using fixture = new DirectoriesFixture();
    const metas = await over(fixture, 6);
    await fixture.directories.remove(metas[5]?.id ?? SandboxId.make(), {});
    expect(bases(fixture)).toHaveLength(6); // five are stood on
    for (const { id } of metas.slice(1, 5)) await fixture.directories.remove(id, {});
    expect(bases(fixture)).toEqual([keyOf(0), keyOf(3), keyOf(4), keyOf(5)]); // the first is stood on still
  });

  it('layers of what came along go but for the newest, and for those that are stood on or of a moment ago; with the last sandbox all old ones', async () => {
    await using fixture = new DirectoriesFixture();
    const [own, other] = await over(fixture, 2);
    const layer = (digit: string) => `a-${digit.repeat(64)}`;
    const standing = { ...fixture.meta(), base: keyOf(0), artefacts: layer('0') };
    await fixture.directories.stage(standing, { fill: () => ENTRIES });
    let last = 0;
    for (const digit of ['0', '1', '2', '3', '4']) {
      const path = join(fixture.root, 'bases', layer(digit));
      mkdirSync(path);
      const seconds = digit === '1' ? Date.now() / 1000 : 1_600_000_000;
      do utimesSync(path, seconds, seconds);
      while (statSync(path).ctimeMs <= last); // each is newer than the one before
      last = statSync(path).ctimeMs;
    }
    await fixture.directories.remove(own?.id ?? SandboxId.make(), {});
    const left = bases(fixture).filter((name) => name.startsWith('a-'));
    expect(left).toEqual([layer('0'), layer('1'), layer('4')]);
    for (const { id } of [other ?? standing, standing]) await fixture.directories.remove(id, {});
    expect(bases(fixture).filter((name) => name.startsWith('a-'))).toEqual([layer('1')]); // no sandbox is left
  });

  it('stay while somebody makes a sandbox, and while a snapshot stands on them', async () => {
    await using fixture = new DirectoriesFixture();
    const metas = await over(fixture, 5);
    const unfinished = join(fixture.root, 'sandboxes', '.unfinished-at-work');
    mkdirSync(unfinished);
    const holder = spawn('flock', [unfinished, 'sh', '-c', 'echo locked; exec cat'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    await once(holder.stdout, 'data');
    for (const { id } of metas.slice(0, 4)) await fixture.directories.remove(id, {});
    expect(bases(fixture)).toHaveLength(5);
    holder.stdin.end();
    await once(holder, 'close');
    mkdirSync(join(fixture.root, 'snapshots', 'one'), { recursive: true });
    writeFileSync(join(fixture.root, 'snapshots', 'one', 'meta.json'), JSON.stringify(metas[0]));
    await fixture.directories.remove(metas[4]?.id ?? SandboxId.make(), {});
    expect(bases(fixture)).toEqual([keyOf(0), keyOf(2), keyOf(3), keyOf(4)]);
  });
});

it('a second sandbox of one id is refused before anything is filled, and the first stays as it is', async () => {
  await using fixture = new DirectoriesFixture();
  const meta = await fixture.staged();
  const again = fixture.directories.stage(meta, { fill: () => ': >../../filled' });
  await expect(again).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  expect(readdirSync(fixture.in(meta.id)).sort()).toEqual(['home', 'meta.json']);
  expect(fixture.names).toEqual([meta.id]);
  expect(existsSync(join(fixture.root, 'filled'))).toBe(false);
});

it('of two that make one id at once, one is refused', async () => {
  await using fixture = new DirectoriesFixture();
  const { directories } = fixture;
  const meta = fixture.meta();
  // Each has begun to fill its directory before either gives its own a name.
  const meet = (own: string, other: string) => () => {
    const [mine, theirs] = [own, other].map((name) => `"$lb_unfinished/../../${name}"`);
    return `for pipe in ${mine} ${theirs}; do mkfifo "$pipe" 2>/dev/null || [ -p "$pipe" ]; done
echo here >${theirs} & read -r lb_word <${mine}; wait`;
  };
  const outcomes = await Promise.allSettled([
    directories.stage(meta, { fill: meet('one', 'two') }),
    directories.stage(meta, { fill: meet('two', 'one') }),
  ]);
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  expect(refused).toEqual([expect.objectContaining({ code: 'ALREADY_EXISTS' })]);
  expect(await directories.read(meta.id)).toEqual(meta);
});

it('what is killed half-way is in no list, and swept by the next removal', async () => {
  await using fixture = new DirectoriesFixture();
  const meta = fixture.meta();
  await expect(fixture.directories.stage(meta, { fill: () => `${ENTRIES}; kill -9 $$` })).rejects.toThrow();
  expect(fixture.names).toEqual([expect.stringMatching(/^\.unfinished-/)]);
  expect(await fixture.listed()).toEqual([]);
  expect(await fixture.directories.state(meta.id)).toBeUndefined();
  await expect(fixture.directories.read(meta.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await fixture.directories.remove(SandboxId.make(), {});
  expect(fixture.names).toEqual([]);
});

it('what fails half-way leaves nothing, and says why', async () => {
  await using fixture = new DirectoriesFixture();
  const failing = fixture.directories.stage(fixture.meta(), {
    fill: () => `${ENTRIES}; echo 'No space left on device' >&2; false; : >further`,
  });
  await expect(failing).rejects.toMatchObject({ code: 'DISK_FULL' });
  expect(fixture.names).toEqual([]);
});

it('what another program is filling meanwhile is not swept', async () => {
  await using fixture = new DirectoriesFixture();
  await fixture.staged();
  const other = SandboxId.make();
  const meta = fixture.meta();
  const go = `"$lb_unfinished/../../go"`;
  const staging = fixture.directories.stage(meta, { fill: () => `mkfifo ${go}; read -r lb_word <${go}` });
  // Opens for writing once somebody reads.
  const letGo = localHost().spawn({
    argv: ['sh', '-c', 'until [ -p "$0" ]; do :; done; read -r go && echo "$go" >"$0"', join(fixture.root, 'go')],
    stdin: 'pipe',
  });
  await using waiting = await letGo;
  while (!existsSync(join(fixture.root, 'go'))) await new Promise((resolve) => setImmediate(resolve));
  await fixture.directories.remove(other, {});
  await waiting.write(new TextEncoder().encode('go\n'));
  expect(await staging).toBe('staged');
  expect(await fixture.directories.read(meta.id)).toEqual(meta);
});

it('a description that cannot be read is a broken sandbox, which can be removed', async () => {
  await using fixture = new DirectoriesFixture();
  const [damaged, bare] = [await fixture.staged(), await fixture.staged()];
  writeFileSync(fixture.in(damaged.id, 'meta.json'), '{"version":1,');
  rmSync(fixture.in(bare.id, 'meta.json'));
  for (const { id } of [damaged, bare])
    await expect(fixture.directories.read(id)).rejects.toMatchObject({ code: 'SANDBOX_BROKEN' });
  expect(await fixture.directories.state(bare.id)).toEqual({ id: bare.id, state: 'broken' });
  for (const { id } of [damaged, bare]) await fixture.directories.remove(id, {});
  expect(fixture.names).toEqual([]);
});

it.each([
  ['this machine', 'local', 'list'],
  ['another machine, by one call', 'far', 'spawn'],
])('the files of %s tell of all sandboxes how they are, and nothing else', async (_, name, call) => {
  await using fixture = new DirectoriesFixture(name);
  const { directories } = fixture;
  expect(await fixture.listed()).toEqual([]); // there is no directory yet
  const [running, paused, stopped, odd, broken] = [
    await fixture.staged(),
    await fixture.staged(),
    await fixture.staged(),
    await fixture.staged(),
    await fixture.staged(),
  ];
  await directories.marksOf(paused.id).set('paused');
  await directories.marksOf(stopped.id).set('stopped');
  mkdirSync(fixture.in(odd.id, 'paused')); // whatever it is
  rmSync(fixture.in(broken.id, 'meta.json'));
  for (const name of ['*', 'not an id', `${running.id}\nrunning ${SandboxId.make()}`, '0'.repeat(36)])
    mkdirSync(join(fixture.root, 'sandboxes', name));
  fixture.calls.length = 0;
  const listed = await fixture.listed();
  expect(fixture.calls).toEqual(Array.from({ length: call === 'spawn' ? 1 : 6 }, () => call));
  const expected: readonly RuntimeStatus[] = [
    { id: running.id, state: 'running' },
    { id: paused.id, state: 'paused' },
    { id: stopped.id, state: 'stopped' },
    { id: odd.id, state: 'paused' },
    { id: broken.id, state: 'broken' },
  ];
  const byId = (one: RuntimeStatus, other: RuntimeStatus) => (one.id < other.id ? -1 : 1);
  expect([...listed].sort(byId)).toEqual([...expected].sort(byId));
  for (const status of expected) expect(await directories.state(status.id)).toEqual(status);
});

it('a directory of sandboxes that cannot be read is an error, and not an empty list', async () => {
  await using fixture = new DirectoriesFixture();
  mkdirSync(fixture.root);
  writeFileSync(join(fixture.root, 'sandboxes'), '');
  expect(await fixture.listed()).toEqual([]); // as HostFiles has it: no such directory
  const host: Host = {
    ...localHost(),
    files: { ...localHost().files, list: () => Promise.reject(new Error('may not be read')) },
  };
  const { layout } = fixture.directories;
  const unreadable = new SandboxDirectories<DirectoryDescription>({ provider: 'test', host, layout });
  await expect(listed(unreadable)).rejects.toThrow('may not be read');
});

it('five hundred and twelve sandboxes are listed', async () => {
  await using fixture = new DirectoriesFixture();
  const ids = Array.from({ length: 512 }, () => SandboxId.make());
  for (const id of ids) {
    mkdirSync(fixture.in(id), { recursive: true });
    writeFileSync(fixture.in(id, 'meta.json'), '{}');
    for (const name of ['paused', 'stopped']) writeFileSync(fixture.in(id, name), 'x'.repeat(10_000));
  }
  const listed = await fixture.listed();
  expect(listed.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(new Set(listed.map(({ state }) => state))).toEqual(new Set(['paused']));
});

it('a sandbox that is paused or stopped is told by one call', async () => {
  await using fixture = new DirectoriesFixture();
  const { id } = await fixture.staged();
  const marks = fixture.directories.marksOf(id);
  await marks.assertRunning();
  await marks.set('stopped');
  expect(await marks.isSet('stopped')).toBe(true);
  await expect(marks.assertRunning()).rejects.toMatchObject({ code: 'SANDBOX_STOPPED' });
  await marks.set('paused');
  fixture.calls.length = 0;
  await expect(marks.assertRunning()).rejects.toMatchObject({ code: 'SANDBOX_PAUSED' });
  expect(fixture.calls).toEqual(['list']);
  for (const name of ['paused', 'stopped'] as const) await marks.clear(name);
  await marks.clear('paused');
  await marks.assertRunning();
});

it('a directory that is often empty is listed without a program here, and by one question elsewhere', async () => {
  await using fixture = new DirectoriesFixture();
  const { host } = fixture.directories;
  const parent = join(fixture.root, 'snapshots');
  const listing = { parent, each: 'echo "$d"', operation: 'test', isOftenEmpty: true } as const;
  expect(await listNamed(host, listing)).toEqual([]);
  mkdirSync(join(parent, '.unfinished-0'), { recursive: true });
  expect(await listNamed(host, listing)).toEqual([]);
  expect(fixture.calls).toEqual(['list', 'list']);
  expect(await listNamed({ ...host, name: 'far' }, listing)).toEqual(['']);
  expect(fixture.calls).toEqual(['list', 'list', 'spawn']);
  mkdirSync(join(parent, 'a0'));
  expect(await listNamed(host, listing)).toEqual(['a0', '']);
});

it('a removal takes playground and disk along, unless they shall stay, and is fine twice', async () => {
  await using fixture = new DirectoriesFixture();
  const { directories, root } = fixture;
  const meta = await fixture.staged();
  const playground = join(root, 'playgrounds', meta.id);
  const disk = join(root, 'disks', meta.id);
  mkdirSync(join(root, 'disks'));
  mkdirSync(playground);
  writeFileSync(disk, '');
  await directories.remove(meta.id, {}, { keepPlayground: true });
  expect([existsSync(fixture.in(meta.id)), existsSync(playground), existsSync(disk)]).toEqual([false, true, true]);
  for (const _time of [1, 2]) await directories.remove(meta.id, {});
  expect([existsSync(playground), existsSync(disk), fixture.names]).toEqual([false, false, []]);
});

it('a sandbox whose programs do not end is not removed', async () => {
  await using fixture = new DirectoriesFixture();
  const { id } = await fixture.staged();
  const removing = fixture.directories.remove(id, { end: `( echo 'its processes do not end' >&2; exit 1 ) || exit 1` });
  await expect(removing).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('do not end') });
  expect(await fixture.directories.state(id)).toEqual({ id, state: 'running' });
});

it('a removal that was killed half-way is finished by the next one, whoever made the directory again', async () => {
  await using fixture = new DirectoriesFixture();
  const { directories } = fixture;
  const { id } = await fixture.staged();
  mkdirSync(join(fixture.root, 'sandboxes', `.unfinished-${id}`, 'full'), { recursive: true });
  const again = join(fixture.root, 'again');
  // A program that cleans up makes the directory anew, once.
  const clean = `[ -e '${again.replaceAll("'", `'\\''`)}' ] || { cd ..; : >../again; rm -rf ${id}; mkdir ${id}; }`;
  await directories.remove(id, { clean });
  expect(fixture.names).toEqual([]);
});

it('no exit code of a directory means another thing for a copy', () => {
  const codes = [...Object.values(STAGING_EXITS), ...Object.values(COPY_EXITS)];
  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
});
