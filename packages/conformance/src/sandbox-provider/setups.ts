import assert from 'node:assert/strict';
import { type ChangedPath, isLitterboxError, SandboxId, type SandboxRuntime } from '@litterbox/core/provider';
import { fixtureWorkspace } from '../fixture-workspace.ts';
import { FIXTURE, type SandboxFixture, type Check, freshKey } from './suite.ts';

/** Work of every kind: below the workspace and at home; `dir/a` of the base is gone, `README` changed. */
const SET_UP = `mkdir -p modules/deep && echo one >modules/deep/file && ln -s deep modules/link && mkfifo modules/fifo &&
printf '#!/bin/sh\\necho run\\n' >modules/program && chmod 755 modules/program && echo changed >README && rm dir/a &&
rm -r bin && mkdir bin && echo other >bin/other && mkdir ~/.cache && echo home >~/.cache/file`;
const LOOK = `cat modules/deep/file README ~/.cache/file; readlink modules/link; ./modules/program; [ -p modules/fifo ] && echo fifo
ls bin; [ -e dir/a ] || echo gone; cat dir/sub/b`;
const SEEN = 'one\nchanged\nhome\ndeep\nrun\nfifo\nother\ngone\nb\n';
const PATHS: readonly (readonly [string, ChangedPath['type']])[] = [
  ['README', 'file'],
  ['bin/other', 'file'],
  ['modules/deep/file', 'file'],
  ['modules/fifo', 'special'],
  ['modules/link', 'symlink'],
  ['modules/program', 'file'],
];

/** A sandbox that was set up and kept, as it is afterwards. */
async function kept({ provider, create, sh }: SandboxFixture, key: string, script = SET_UP): Promise<SandboxRuntime> {
  const maker = await create();
  const { exit, stderr } = await sh(maker, script);
  assert.equal(exit.code, 0, stderr);
  await provider.setups?.keep(maker.id, key);
  return await provider.open(maker.id);
}

async function usersOf({ provider }: SandboxFixture, key: string): Promise<readonly string[] | undefined> {
  for await (const one of provider.setups?.list() ?? []) if (one.key === key) return one.usedBy;
  return undefined;
}

/** What setups left, kept and begun with. A provider that keeps nothing must say so and make ordinary sandboxes. */
export function setups(check: Check): void {
  check('a key that nobody kept gives an ordinary sandbox, which says so', async ({ create, sh }) => {
    const runtime = await create({ prepared: [freshKey(), freshKey()] });
    assert.equal(runtime.prepared, undefined);
    assert.equal((await sh(runtime, 'cat README; ls -A ~')).stdout, 'read me\n');
  });

  check(
    'a sandbox begins with everything a setup left, and the one it was kept from goes on with it',
    async (fixture) => {
      const { provider, create, another, sh } = fixture;
      if (!provider.setups) return; // the test above is what it has to pass then
      const key = freshKey();
      await using maker = await kept(fixture, key);
      assert.equal((await sh(maker, LOOK)).stdout, SEEN);
      const next = await create({ prepared: [freshKey(), key] });
      assert.equal(next.prepared, key);
      assert.equal((await sh(next, LOOK)).stdout, SEEN);
      // What is in it is an ordinary user's own: it can be changed and removed.
      const { exit, stderr } = await sh(
        next,
        'echo 2 >>README && rm -r modules && mkdir modules && echo 3 >~/.cache/file',
      );
      assert.equal(exit.code, 0, stderr);
      await using reopened = await (await another()).open(next.id);
      assert.equal((await sh(reopened, 'cat README ~/.cache/file; ls modules')).stdout, 'changed\n2\n3\n');
    },
  );

  check(
    'no mark means all since the base, what the kept setup left included; a mark means what came after',
    async (fixture) => {
      const { provider, create, sh } = fixture;
      if (!provider.setups) return; // the test above is what it has to pass then
      const key = freshKey();
      await using maker = await kept(fixture, key);
      const next = await create({ prepared: [key] });
      for (const runtime of [maker, next]) {
        const first = await runtime.scan(undefined);
        const found = new Map<string, ChangedPath>();
        for await (const change of first.changes) found.set(`${change.type} ${change.path}`, change);
        for (const [path, type] of PATHS) assert.ok(found.has(`${type} ${path}`), `${type} ${path}`);
        for (const [path, names] of [
          ['dir', ['sub']],
          ['bin', ['other']],
        ] as const) {
          const directory = found.get(`directory ${path}`);
          assert.deepEqual(directory?.type === 'directory' && directory.children.map(({ name }) => name), names);
        }
        await runtime.mark(); // changes nothing
        const program = found.get('file modules/program');
        assert.ok(program?.type === 'file' && program.executable && program.sizeBytes === 19);
        await sh(runtime, 'rm modules/program; echo late >modules/late');
        const since: string[] = [];
        for await (const change of (await runtime.scan(first.next)).changes)
          since.push(
            change.type === 'directory'
              ? `${change.path}/ ${change.children
                  .map(({ name }) => name)
                  .sort()
                  .join()}`
              : change.path,
          );
        assert.ok(since.includes('modules/late'), since.join('\n'));
        assert.ok(since.includes('modules/ deep,fifo,late,link'), since.join('\n'));
        assert.ok(!since.includes('modules/deep/file'), since.join('\n'));
      }
    },
  );

  check(
    'FC-04: over another base, files that differ are newer than what is kept, and equal ones keep their time',
    async (fixture) => {
      const { provider, create, sh } = fixture;
      if (!provider.setups) return; // the test above is what it has to pass then
      const key = freshKey();
      const build = 'mkdir build && for f in README dir/a dir/sub/b; do cp "$f" "build/${f##*/}"; done';
      await using maker = await kept(fixture, key, build);
      const times = 'stat -c "%n %Y" README dir/a dir/sub/b';
      const before = (await sh(maker, times)).stdout.split('\n');
      const changed = { path: 'README', content: 'READ ME\n' };
      const files = [...FIXTURE.filter(({ path }) => path !== 'README'), changed];
      const make = async (base: string) => {
        const next = await create({ workspace: fixtureWorkspace(base, files, [changed]), prepared: [key] });
        return next.prepared === undefined ? undefined : next;
      };
      const base = freshKey();
      const look = `cat README build/README dir/a; for f in README dir/a dir/sub/b; do [ "$f" -nt "build/\${f##*/}" ] && echo "newer $f"; done; ls build; echo x >>dir/a`;
      for (const next of [await make(base), await make(base)]) {
        if (!next) continue; // where whole workspaces are copied, a kept setup is for its own base alone
        const { stdout } = await sh(next, `${times}; ${look}`);
        const [readme, ...equal] = stdout.split('\n').slice(0, 3);
        assert.deepEqual(equal, before.slice(1, 3));
        assert.notEqual(readme, before[0]);
        const seen = stdout.split('\n').slice(3).join('\n');
        assert.equal(seen, 'READ ME\nread me\na\nnewer README\nREADME\na\nb\n');
        const scan = await next.scan(undefined);
        const paths: string[] = [];
        for await (const { type, path } of scan.changes) if (type === 'file') paths.push(path);
        assert.deepEqual(paths.sort(), ['build/README', 'build/a', 'build/b', 'dir/a']);
        await using again = await provider.open(next.id);
        await again.stop();
        await again.start();
        assert.equal((await sh(again, '[ README -nt build/README ] && cat dir/a')).stdout, 'a\nx\n');
      }
    },
  );

  check('sandboxes on one kept setup neither see nor change what another one writes', async (fixture) => {
    const { provider, create, sh } = fixture;
    if (!provider.setups) return; // the test above is what it has to pass then
    const key = freshKey();
    await using maker = await kept(fixture, key);
    const [one, two] = [await create({ prepared: [key] }), await create({ prepared: [key] })];
    for (const writer of [maker, one])
      await sh(
        writer,
        'echo evil >>modules/deep/file; echo evil >~/.cache/file; echo evil >README; rm -r bin modules/link; chmod 700 modules/program; echo evil >~/evil; touch modules/evil',
      );
    assert.equal(
      (await sh(two, `${LOOK}; ls ~ modules`)).stdout,
      `${SEEN}/home/agent:\n\nmodules:\ndeep\nfifo\nlink\nprogram\n`,
    );
    const three = await create({ prepared: [key] });
    assert.equal(
      (await sh(three, `${LOOK}; ls ~ modules`)).stdout,
      `${SEEN}/home/agent:\n\nmodules:\ndeep\nfifo\nlink\nprogram\n`,
    );
  });

  check('keeping ends all processes: nobody writes into what is kept', async (fixture) => {
    const { provider, create, sh } = fixture;
    if (!provider.setups) return; // the test above is what it has to pass then
    const key = freshKey();
    const maker = await create(); // stays open: it is the keeping that ends what runs, not the last client's going
    await sh(
      maker,
      '( n=0; while :; do n=$((n+1)); echo $n >ticks; echo $n >~/ticks; done ) >/dev/null 2>&1 & while [ ! -s ~/ticks ]; do :; done',
    );
    await provider.setups.keep(maker.id, key);
    const look = async () => (await sh(await create({ prepared: [key] }), 'cat ticks ~/ticks')).stdout;
    const before = await look();
    assert.match(before, /\d/);
    assert.equal(await look(), before);
    await using again = await provider.open(maker.id);
    assert.equal((await sh(again, 'cat ticks ~/ticks')).stdout, before);
  });

  check(
    'what is kept outlives the sandbox it was kept from, and is listed with those that stand on it',
    async (fixture) => {
      const { provider, create, another, sh } = fixture;
      if (!provider.setups) return; // the test above is what it has to pass then
      const key = freshKey();
      const maker = await kept(fixture, key);
      await maker[Symbol.asyncDispose]();
      await provider.remove(maker.id);
      assert.deepEqual(await usersOf({ ...fixture, provider: await another() }, key), []);
      const next = await create({ prepared: [key] });
      assert.equal((await sh(next, LOOK)).stdout, SEEN);
      const users = await usersOf(fixture, key);
      assert.ok(users && users.every((id) => id === next.id), String(users));
    },
  );

  check('the first one to keep a key has it; the other one goes on with its own files', async (fixture) => {
    const { provider, create, sh } = fixture;
    if (!provider.setups) return; // the test above is what it has to pass then
    const key = freshKey();
    const both = await Promise.all(['first', 'second'].map(async (name) => [name, await create()] as const));
    for (const [name, runtime] of both) {
      await sh(runtime, `echo ${name} >who; echo ${name} >~/who`);
      await runtime[Symbol.asyncDispose]();
    }
    const { setups: store } = provider;
    await Promise.all(both.map(([, { id }]) => store.keep(id, key)));
    for (const [name, { id }] of both) {
      await using runtime = await provider.open(id);
      assert.equal((await sh(runtime, 'cat who ~/who')).stdout, `${name}\n${name}\n`);
    }
    const { stdout } = await sh(await create({ prepared: [key] }), 'cat who ~/who');
    assert.match(stdout, /^(first\nfirst|second\nsecond)\n$/);
  });

  check(
    'keeping a sandbox that nobody made is NOT_FOUND, and no key but a digest is taken',
    async ({ provider, create }) => {
      if (!provider.setups) return; // the test above is what it has to pass then
      await assert.rejects(provider.setups.keep(SandboxId.make(), freshKey()), (error) =>
        isLitterboxError(error, 'NOT_FOUND'),
      );
      const { id } = await create();
      for (const key of ['../escape', '', 'UPPER', '.'])
        await assert.rejects(provider.setups.keep(id, key), (error) => isLitterboxError(error, 'INVALID_ARGUMENT'));
    },
  );

  check('a kept setup of another base is over this one, or not used', async (fixture) => {
    const { provider, create, sh } = fixture;
    if (!provider.setups) return; // the test above is what it has to pass then
    const key = freshKey();
    await using _maker = await kept(fixture, key, 'mkdir modules; echo new >modules/new; echo new >dir/new');
    const workspace = fixtureWorkspace('a0a0a0a0', [...FIXTURE, { path: 'dir/later', content: 'later\n' }]);
    const next = await create({ prepared: [key], workspace });
    assert.equal(
      (await sh(next, 'cat modules/new dir/new 2>/dev/null; cat dir/later dir/a')).stdout,
      next.prepared === undefined ? 'later\na\n' : 'new\nnew\nlater\na\n',
    );
  });
}
