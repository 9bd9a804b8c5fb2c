import assert from 'node:assert/strict';
import {
  type Artefacts,
  type Host,
  isLitterboxError,
  type LitterboxErrorCode,
  quoted,
  SandboxId,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { collected } from '../collected.ts';
import { fixtureArchive, type FixtureFile } from '../fixture-workspace.ts';
import { type Check, freshKey, idsOf, type SandboxFixture } from './suite.ts';

/** A working tree of a person with files of every kind, of which some are named. Older than every test, but for `fresh`. */
const MAKE = `mkdir -p built/deep/.git own/sub .hidden && echo one >built/deep/file && ln built/deep/file built/same && echo run >built/run &&
echo secret >.hidden/key && chmod 751 built/run && chmod 600 .hidden/key && mkdir built/empty && printf x >"built/$(printf 'line\\nnon-utf8-\\377')" &&
ln -s /etc/passwd built/out && ln -s nowhere built/dangling && ln -s built/deep alias && ln -s "$PWD/own" own/loop && mkfifo built/pipe &&
printf 'ref' >built/deep/.git/HEAD && echo not named >own/file && echo sub >own/sub/file && echo old >built/old &&
find . ! -type l -exec touch -d @1700000000 {} + && touch -d @499162500 built/old && touch -d @1750000000 built/deep/file`;
const TIME = 1_700_000_000;

/** Everything that a person could notice of it. */
const LOOK = `find . -printf '%p %y %i %s %T@ %C@ %m %n %u %l\\n' | LC_ALL=C sort; cat built/deep/file built/run own/file`;

/** A working tree on the host for one test. */
class WorkTree implements AsyncDisposable {
  readonly path: string;
  readonly #host: Host;

  constructor(host: Host, path: string) {
    this.#host = host;
    this.path = path;
  }

  static async make(host: Host): Promise<WorkTree> {
    const { stdout } = await collected(await host.spawn({ argv: ['mktemp', '-d', '/var/tmp/kit-XXXXXXXX'] }));
    const made = new WorkTree(host, stdout.trim());
    await made.sh(MAKE);
    return made;
  }

  async sh(script: string): Promise<string> {
    const text = `cd ${quoted(this.path)} || exit\n${script}`;
    const { exit, stdout, stderr } = await collected(await this.#host.spawn({ argv: ['sh', '-c', text] }));
    assert.equal(exit.code, 0, stderr);
    return stdout;
  }

  /** @param newer files of the base that are newer than what is brought */
  artefacts(paths: readonly string[], newer: readonly FixtureFile[] = [], asked: number[] = []): Artefacts {
    return {
      source: { host: this.#host, path: this.path },
      paths,
      newerThan: async (sinceSeconds) => {
        asked.push(sinceSeconds);
        const archive = fixtureArchive(newer, true, TIME + 50);
        const key = newer.length === 0 ? 'e0' : freshKey();
        return { key, open: () => ReadableStream.from([archive]) };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.files.remove(this.path);
  }
}

async function changedPaths(runtime: SandboxRuntime, mark?: string): Promise<readonly string[]> {
  const paths: string[] = [];
  const { changes } = await runtime.scan(mark);
  for await (const { type, path } of changes) if (type !== 'directory') paths.push(path);
  return paths.sort();
}

const refusedAs = (code: LitterboxErrorCode) => (error: unknown) => isLitterboxError(error, code);

/** Files of the person's working tree that come along. */
export function artefacts(check: Check): void {
  /** Where the provider brings nothing, core refuses before it is asked; a provider that is asked all the same refuses too. */
  const where = (title: string, body: (fixture: SandboxFixture, tree: WorkTree) => Promise<void>) =>
    check(title, async (fixture) => {
      if (!fixture.provider.traits.canBring) return;
      await using tree = await WorkTree.make(fixture.host);
      await body(fixture, tree);
    });

  where('what comes along is as it was, and nothing of the person is touched', async ({ create, sh }, tree) => {
    const before = await tree.sh(LOOK);
    const runtime = await create({ artefacts: tree.artefacts(['.hidden', 'built', 'own/sub']) });
    assert.equal(await tree.sh(LOOK), before);
    const look = `cat README built/deep/file .hidden/key own/sub/file built/deep/.git/HEAD; ls -l built | grep -v ^total | cut -c1-10 | LC_ALL=C sort -u
stat -c '%a %Y %n' built/run built/old built/deep/file .hidden/key; readlink built/out; readlink built/dangling
[ built/deep/file -ef built/same ] && echo same; [ -d built/empty ] && echo empty
[ -f "built/$(printf 'line\\nnon-utf8-\\377')" ] && echo odd; [ -e own/file ] || [ -e alias ] || [ -e built/pipe ] || echo no more`;
    const { stdout } = await sh(runtime, look);
    assert.equal(
      stdout,
      `read me\none\nsecret\nsub\nref-rw-r--r--\n-rwxr-x--x\ndrwxr-xr-x\nlrwxrwxrwx\n` +
        `751 ${TIME} built/run\n644 499162500 built/old\n644 1750000000 built/deep/file\n600 ${TIME} .hidden/key\n/etc/passwd\nnowhere\nsame\nempty\nodd\nno more\n`,
    );
    // It is the sandbox's to write, like everything else in the workspace.
    const { exit, stderr } = await sh(
      runtime,
      'echo more >>built/deep/file && rm -r own/sub && chmod 600 built/run && echo new >built/new',
    );
    assert.equal(exit.code, 0, stderr);
    assert.equal(await tree.sh(LOOK), before);
  });

  where('it is no change until it changes, and neither is what is newer', async ({ create, sh }, tree) => {
    const newer = [{ path: 'dir/a', content: 'a\n' }];
    const runtime = await create({ artefacts: tree.artefacts(['built'], newer) });
    assert.deepEqual(await changedPaths(runtime), []);
    await sh(runtime, 'echo more >>built/run; rm built/old; echo more >>dir/a; echo new >new');
    const changed = await changedPaths(runtime);
    // A directory in which something is gone may be looked at whole.
    for (const path of ['built/run', 'dir/a', 'new']) assert.ok(changed.includes(path), path);
    assert.deepEqual(
      changed.filter((path) => !path.startsWith('built/')),
      ['dir/a', 'new'],
    );
  });

  where('files of the base are newer as they are told to be, since the oldest of what comes', async (fixture, tree) => {
    const { create, sh } = fixture;
    const asked: number[] = [];
    const newer = [{ path: 'dir/sub/b', content: 'b\n' }];
    const runtime = await create({ artefacts: tree.artefacts(['built'], newer, asked) });
    assert.deepEqual([...new Set(asked)], [TIME], 'the times of archives, before 2000, are no builds');
    const { stdout } = await sh(runtime, 'cat dir/sub/b; stat -c %Y dir/sub/b; [ dir/a -ot built/run ] && echo older');
    assert.equal(stdout, `b\n${TIME + 50}\nolder\n`);
  });

  where('each sandbox has its own, of the moment at which it was made', async ({ create, sh }, tree) => {
    const make = async () => await create({ artefacts: tree.artefacts(['built']) });
    const one = await make();
    await sh(one, 'echo of one >built/run; rm built/old');
    await tree.sh('echo since >built/since && echo longer >>built/deep/file');
    const other = await make();
    const look = 'cat built/run built/deep/file; ls built/since built/old 2>/dev/null';
    assert.equal((await sh(one, look)).stdout, 'of one\none\n');
    assert.equal((await sh(other, look)).stdout, 'run\none\nlonger\nbuilt/old\nbuilt/since\n');
  });

  where('no link leads out: one that is named is a link, and one above is refused', async (fixture, tree) => {
    const { create, provider, sh, spec } = fixture;
    const before = await idsOf(fixture);
    const refuse = async (path: string, code: LitterboxErrorCode) =>
      await assert.rejects(provider.create(spec({ artefacts: tree.artefacts([path]) })), refusedAs(code), path);
    await refuse('alias/file', 'PATH_OUTSIDE_WORKDIR');
    await refuse('own/loop/file', 'PATH_OUTSIDE_WORKDIR');
    await refuse('nothing', 'NOT_FOUND');
    await refuse('built/run/nothing', 'NOT_FOUND');
    assert.deepEqual(await idsOf(fixture), before);
    const runtime = await create({ artefacts: tree.artefacts(['alias', 'own/loop']) });
    const { stdout } = await sh(runtime, 'readlink alias; readlink own/loop; [ -e alias/file ] || echo dangling');
    assert.equal(stdout, `built/deep\n${tree.path}/own\ndangling\n`);
  });

  where('it is there after a stop, for another process, and in a copy', async (fixture, tree) => {
    const { create, sh, another, provider, lacking } = fixture;
    const runtime = await create({ artefacts: tree.artefacts(['built']) });
    await sh(runtime, 'echo changed >built/run');
    await tree.sh('rm -r built');
    await runtime.stop();
    const look = async (one: SandboxRuntime) => (await sh(one, 'cat built/run built/deep/file')).stdout;
    if (provider.traits.canCopy && !lacking.includes('copies')) {
      const copy = await create({ copyOf: runtime.id });
      assert.equal(await look(copy), 'changed\none\n');
    }
    await runtime.start();
    await using opened = await (await another()).open(runtime.id);
    assert.equal(await look(opened), 'changed\none\n');
    const { snapshots } = provider;
    if (!snapshots || lacking.includes('copies')) return;
    await opened.stop();
    const kept = await snapshots.take(runtime.id);
    await opened.start();
    await sh(opened, 'rm -r built');
    await opened.stop();
    await snapshots.restore(runtime.id, kept);
    await snapshots.remove(kept);
    await using restored = await (await another()).open(runtime.id);
    await restored.start();
    assert.equal(await look(restored), 'changed\none\n');
  });

  where('it stands on no kept setup, and what a setup leaves over it is not kept', async (fixture, tree) => {
    const { create, sh, provider } = fixture;
    const { setups } = provider;
    if (!setups) return;
    const key = freshKey();
    const source = await create();
    await sh(source, 'echo kept >kept');
    await source[Symbol.asyncDispose]();
    await setups.keep(source.id, key);
    const runtime = await create({ prepared: [key], artefacts: tree.artefacts(['built']) });
    assert.equal(runtime.prepared, undefined);
    assert.equal((await sh(runtime, 'cat kept 2>&1 >/dev/null | wc -l; cat built/run')).stdout, '1\nrun\n');
    await runtime[Symbol.asyncDispose]();
    const over = freshKey();
    await setups.keep(runtime.id, over);
    for await (const { key: one } of setups.list()) assert.notEqual(one, over);
  });

  check('a provider that brings nothing along refuses to', async ({ provider, spec, host }) => {
    if (provider.traits.canBring) return;
    const id = SandboxId.make();
    const newerThan = async () => ({ key: '00', open: () => ReadableStream.from([fixtureArchive([])]) });
    const wanted = spec({ id, artefacts: { source: { host, path: '/' }, paths: ['etc'], newerThan } });
    await assert.rejects(provider.create(wanted), refusedAs('UNSUPPORTED'));
    for await (const status of provider.list()) assert.notEqual(status.id, id);
  });
}
