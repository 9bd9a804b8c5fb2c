import assert from 'node:assert/strict';
import {
  CONTROLS,
  decodeRaw,
  isLitterboxError,
  refusedControls,
  parseProviderKey,
  providerKey,
  SandboxId,
  type SandboxProvider,
} from '@litterbox/core/provider';
import { brokenWorkspace, fixtureWorkspace } from '../fixture-workspace.ts';
import { type Check, lackedControls } from './suite.ts';

async function ids(provider: SandboxProvider): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { id } of provider.list()) found.push(id);
  return found;
}

/** Creating, opening, listing, removing. */
export function lifecycle(check: Check): void {
  check('the name is lower-case and stable, and probing says what was looked at', async ({ provider, another }) => {
    assert.equal(providerKey(parseProviderKey(provider.name)), provider.name);
    assert.equal((await another()).name, provider.name);
    const report = await provider.probe();
    assert.equal(report.usable, true);
    assert.ok(report.checks.length > 0);
    for (const { name, finding, status, remedy } of report.checks)
      assert.ok(name && finding && (status === 'ok' || remedy), `${name}: ${finding}`);
  });

  check('create() gives a workspace with exactly the files of the source', async ({ create, sh }) => {
    const odd = ['-dash', 'new\nline', "quo'te", 'non-utf8-\udcff', 'e\u0301', '\u00e9', `${'long/'.repeat(60)}name`];
    const workspace = fixtureWorkspace('0dd0dd', [
      { path: 'README', content: 'read me\n' },
      { path: 'bin/tool', content: '#!/bin/sh\necho tool\n', executable: true },
      { path: 'link', linkTarget: 'README' },
      ...odd.map((path) => ({ path, content: path })),
    ]);
    const runtime = await create({ workspace });
    const { stdout } = await sh(
      runtime,
      'cat README link; ./bin/tool; [ -x README ] && echo executable; for f in ./* ./.[!.]*; do [ -e "$f" ] && printf "%s\\0" "$f"; done; cat "./$(printf "non-utf8-\\377")"',
    );
    assert.ok(stdout.startsWith('read me\nread me\ntool\n'), stdout);
    assert.ok(!stdout.includes('executable'));
    for (const path of odd.slice(0, 6)) assert.ok(stdout.includes(`./${path}\0`), JSON.stringify(path));
    assert.ok(stdout.endsWith('non-utf8-\udcff'));
    assert.equal((await sh(runtime, `cat "${'long/'.repeat(60)}name"`)).stdout, `${'long/'.repeat(60)}name`);
    const found = (await sh(runtime, 'find . ! -type d -print0')).stdout.split('\0').filter(Boolean);
    const expected = ['README', 'bin/tool', 'link', ...odd].map((path) => `./${path}`);
    assert.deepEqual(found.sort(), expected.sort(), 'not one file too many');
  });

  check('one in which files of the base were deleted can be removed, and is gone', async ({ create, provider, sh }) => {
    const runtime = await create();
    assert.equal((await sh(runtime, 'rm -r ./* && ls -A')).stdout, '');
    await runtime[Symbol.asyncDispose]();
    await provider.remove(runtime.id);
    assert.ok(!(await ids(provider)).includes(runtime.id));
  });

  check(
    'the workspace is at the workdir that was asked for, and /src leads there',
    async ({ create, provider, sh }) => {
      // A repository may lie below a temporary directory. What lies between is made by who mounts, and has to be entered all the same.
      const isAnywhere = provider.traits.workdir === 'repository-path';
      for (const workdir of ['/home/someone/project', ...(isAnywhere ? ['/tmp/some/project'] : [])]) {
        const runtime = await create({ workdir });
        assert.equal(runtime.workdir, workdir);
        const { stdout } = await sh(runtime, `pwd; cat /src/README; cat ${workdir}/README; echo new >new && ls`);
        assert.equal(stdout, `${workdir}\nread me\nread me\nREADME\nbin\ndir\nlink\nnew\n`);
      }
    },
  );

  check('the content is read once per key, or once per sandbox where nothing is kept', async ({ create, provider }) => {
    const source = fixtureWorkspace('0ce0ce', [{ path: 'file', content: 'x' }]);
    let opened = 0;
    const workspace = { key: source.key, open: () => ((opened += 1), source.open()) };
    await create({ workspace });
    const before = opened;
    assert.ok(before <= 1);
    await create({ workspace });
    assert.equal(opened, provider.traits.keeps === 'nothing' ? 2 : before);
  });

  check(
    'an id that is taken is ALREADY_EXISTS, and the sandbox that has it is unharmed',
    async ({ create, provider, spec, sh }) => {
      const runtime = await create();
      await sh(runtime, 'echo mine >mine');
      await assert.rejects(provider.create(spec({ id: runtime.id })), (error) =>
        isLitterboxError(error, 'ALREADY_EXISTS'),
      );
      assert.equal((await sh(runtime, 'cat mine')).stdout, 'mine\n');
    },
  );

  check(
    'a create() that fails leaves nothing behind, and the same id can be created then',
    async ({ provider, spec, create }) => {
      const id = SandboxId.make();
      await assert.rejects(
        provider.create(spec({ id, workspace: brokenWorkspace('b0b0b0', new Error('the source is gone')) })),
        (error) => !isLitterboxError(error, 'ALREADY_EXISTS'),
      );
      assert.ok(!(await ids(provider)).includes(id));
      await create({ id });
      assert.ok((await ids(provider)).includes(id));
    },
  );

  check('a create() that is aborted rejects with the reason and leaves nothing behind', async ({ provider, spec }) => {
    const early = SandboxId.make();
    const reason = new Error('enough');
    await assert.rejects(
      provider.create(spec({ id: early }), { signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    );
    const late = SandboxId.make();
    const controller = new AbortController();
    const source = fixtureWorkspace('abab', [{ path: 'file', content: 'x' }]);
    const workspace = { key: `abab${late.replaceAll('-', '')}`, open: () => (controller.abort(reason), source.open()) };
    await assert.rejects(
      provider.create(spec({ id: late, workspace }), { signal: controller.signal }),
      (error) => error === reason,
    );
    const left = await ids(provider);
    assert.ok(!left.includes(early) && !left.includes(late));
  });

  check('another instance lists and opens what this one made, and sees its files', async ({ create, another, sh }) => {
    const runtime = await create();
    await sh(runtime, 'echo shared >file');
    const other = await another();
    assert.ok((await ids(other)).includes(runtime.id));
    await using opened = await other.open(runtime.id);
    assert.equal((await sh(opened, 'cat file; echo back >file')).stdout, 'shared\n');
    assert.equal((await sh(runtime, 'cat file')).stdout, 'back\n');
  });

  check('files outlive the process that wrote them', async ({ provider, spec, another, sh }) => {
    const first = await provider.create(spec());
    await sh(first, 'echo kept >file; echo home >~/file; echo play >"$LITTERBOX_PLAYGROUND/file"');
    await first[Symbol.asyncDispose]();
    await using second = await (await another()).open(first.id);
    assert.equal((await sh(second, 'cat file ~/file "$LITTERBOX_PLAYGROUND/file"')).stdout, 'kept\nhome\nplay\n');
  });

  check('open() of an id that nobody made is NOT_FOUND', async ({ provider }) => {
    await assert.rejects(provider.open(SandboxId.make()), (error) => isLitterboxError(error, 'NOT_FOUND'));
  });

  check(
    'remove() ends what runs, is idempotent, and touches no other sandbox',
    async ({ provider, create, sh, another }) => {
      const [gone, kept] = [await create(), await create()];
      await sh(kept, 'echo kept >file');
      const process = await gone.spawn({ argv: ['sleep', '1000'] });
      const exit = process.exit.catch(() => 'lost');
      await (await another()).remove(gone.id);
      assert.notDeepEqual(await exit, { code: 0 });
      await provider.remove(gone.id);
      assert.ok(!(await ids(provider)).includes(gone.id));
      await assert.rejects((await another()).open(gone.id), (error) => isLitterboxError(error, 'NOT_FOUND'));
      assert.equal((await sh(kept, 'cat file')).stdout, 'kept\n');
    },
  );

  check('removal copes with files and directories that nobody may read or write', async ({ provider, create, sh }) => {
    const runtime = await create();
    await sh(
      runtime,
      'mkdir -p locked/in ~/locked && echo x >locked/in/file && chmod 000 locked/in/file locked/in locked ~/locked; mkfifo fifo; ln -s / root',
    );
    await provider.remove(runtime.id);
    assert.ok(!(await ids(provider)).includes(runtime.id));
  });

  check('disposing a runtime twice is fine', async ({ create }) => {
    const runtime = await create();
    await runtime[Symbol.asyncDispose]();
    await runtime[Symbol.asyncDispose]();
  });

  check('every control is reported, and none that is mandatory is missing', async (fixture) => {
    const { shared, provider, lacking, spec } = fixture;
    const { controls, provider: name, mechanism } = await (await shared()).assurance();
    assert.equal(name, provider.name);
    assert.ok(mechanism.length > 0);
    assert.deepEqual(controls.map((control) => control.name).sort(), [...CONTROLS].sort());
    const found = { provider: name, mechanism, controls, readable: [] };
    const missing = refusedControls(found, provider.traits).map((one) => one.name);
    assert.deepEqual([...missing].sort(), [...lackedControls(lacking)].sort());
    if (missing.length > 0)
      await assert.rejects(provider.create(spec({ allowDegraded: false })), (error: unknown) => {
        assert.ok(isLitterboxError(error, 'DEGRADED'), 'nobody allowed a sandbox without them');
        assert.deepEqual(error.details.facts?.['missing'], missing, 'each is named');
        return true;
      });
    for (const { status, finding, remedy } of controls) assert.ok(finding && (status === 'enforced' || remedy));
  });

  check('what the provider says it cannot limit is refused as UNSUPPORTED', async ({ provider, spec }) => {
    for (const limit of ['memoryBytes', 'cpus', 'processes', 'openFiles', 'diskBytes', 'diskBytesPerSecond'] as const) {
      if (provider.traits.limits.includes(limit)) continue;
      await assert.rejects(
        provider.create(spec({ limits: { [limit]: 2 ** 30 } })),
        (error) => isLitterboxError(error, 'UNSUPPORTED'),
        limit,
      );
    }
    if (!provider.traits.roots.includes('image'))
      await assert.rejects(provider.create(spec({ root: { type: 'image', reference: 'busybox' } })), (error) =>
        isLitterboxError(error, 'UNSUPPORTED'),
      );
    assert.equal(provider.snapshots === undefined, provider.traits.snapshotCost === undefined);
  });

  check("the environment of the specification is in every process, over the provider's own", async ({ create, sh }) => {
    const runtime = await create({ environment: { KIT_VARIABLE: "it's\n$HOME" } });
    assert.equal(runtime.environment['KIT_VARIABLE'], "it's\n$HOME");
    const { stdout } = await sh(runtime, 'printf "%s|%s|%s" "$KIT_VARIABLE" "$HOME" "$LITTERBOX_PLAYGROUND"');
    assert.equal(stdout, `it's\n$HOME|${runtime.environment['HOME']}|${runtime.playground}`);
  });

  check('playgrounds are apart unless they have one key, and outlive commands', async (fixture) => {
    const { create, provider, sh } = fixture;
    const [one, two] = [await create(), await create()];
    await sh(one, 'echo one >"$LITTERBOX_PLAYGROUND/file"');
    assert.notEqual((await sh(two, 'cat "$LITTERBOX_PLAYGROUND/file"')).exit.code, 0);
    if (provider.traits.keeps === 'nothing')
      return await assert.rejects(create({ playground: one.id }), (error) => isLitterboxError(error, 'UNSUPPORTED'));
    const three = await create({ playground: one.id });
    assert.equal((await sh(three, 'cat "$LITTERBOX_PLAYGROUND/file"')).stdout, 'one\n');
  });

  check('remove() leaves the playground when it is told to, and then only', async ({ create, provider, sh }) => {
    const one = await create();
    await sh(one, 'echo kept >"$LITTERBOX_PLAYGROUND/file"');
    await one[Symbol.asyncDispose]();
    await provider.remove(one.id, { keepPlayground: true });
    const again = await create({ id: one.id });
    const { stdout } = await sh(again, 'cat "$LITTERBOX_PLAYGROUND/file"');
    assert.equal(stdout, provider.traits.keeps === 'nothing' ? '' : 'kept\n');
    await again[Symbol.asyncDispose]();
    await provider.remove(one.id);
    const anew = await create({ id: one.id });
    assert.notEqual((await sh(anew, 'cat "$LITTERBOX_PLAYGROUND/file"')).exit.code, 0);
  });

  check(
    'usage() tells what is used, and of processor time what was used since it was asked before',
    async ({ shared, sh }) => {
      const runtime = await shared();
      await using process = await runtime.spawn({ argv: ['sleep', '1000'] });
      const usage = await runtime.usage();
      assert.ok(usage.processes === undefined || usage.processes >= 1);
      assert.ok(usage.memoryBytes === undefined || usage.memoryBytes > 0);
      await sh(runtime, 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done');
      const { cpuMs } = await runtime.usage();
      // A hundred thousand steps of a shell take more than a millisecond anywhere.
      if (usage.cpuMs !== undefined)
        assert.ok(cpuMs !== undefined && cpuMs - usage.cpuMs > 1, `${usage.cpuMs} then ${cpuMs}`);
      await process.kill('SIGKILL');
    },
  );

  check('names of files inside never come back as anything but text', async ({ shared, sh }) => {
    const runtime = await shared();
    const { stdoutBytes } = await sh(runtime, 'printf "\\377\\200ok"');
    assert.equal(decodeRaw(stdoutBytes), '\udcff\udc80ok');
  });
}
