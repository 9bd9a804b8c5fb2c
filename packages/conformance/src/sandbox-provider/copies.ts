import assert from 'node:assert/strict';
import {
  type ChangedPath,
  isLitterboxError,
  SandboxId,
  type SandboxRuntime,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { eventually } from '../eventually.ts';
import { type SandboxFixture, type Check, idsOf } from './suite.ts';

/** Work of every kind in workspace, home and playground; of the base `README` is changed, `dir/a` gone, `bin` another directory. */
const WORK = `echo changed >README && rm dir/a && rm -r bin && mkdir bin && echo other >bin/other &&
printf x >'new
line'; printf x >"$(printf 'non-utf8-\\377')"; mkdir -p ignored/deep && echo one >ignored/deep/file && ln ignored/deep/file hard && ln -s /etc/passwd out && ln -s nowhere dangling &&
mkfifo pipe && printf '#!/bin/sh\\necho run\\n' >run && chmod 751 run && mkdir locked && echo x >locked/file && chmod 500 locked && echo s >secret && chmod 0 secret && : >empty &&
mkdir -p ~/.cache && echo home >~/.cache/file && echo play >"$LITTERBOX_PLAYGROUND_OF_KIT/file"`;
const LOOK = `find . | sort; cat README bin/other ignored/deep/file locked/file ~/.cache/file "$LITTERBOX_PLAYGROUND_OF_KIT/file"; ls -ld run locked secret | cut -c1-10
readlink out dangling link; [ -p pipe ] && echo fifo; [ hard -ef ignored/deep/file ] && echo same; ./run; [ -e dir/a ] || echo gone; cat dir/sub/b`;

/** The same environment as every other program, and where the playground is. */
const inside = (runtime: SandboxRuntime) => ({
  env: { ...runtime.environment, LITTERBOX_PLAYGROUND_OF_KIT: runtime.playground },
});

async function look({ sh }: SandboxFixture, runtime: SandboxRuntime): Promise<string> {
  return (await sh(runtime, LOOK, inside(runtime))).stdout;
}

/** `shared` is for tests that leave it as it was. */
async function worked(fixture: SandboxFixture, of: 'own' | 'shared' = 'own'): Promise<SandboxRuntime> {
  const runtime = await (of === 'own' ? fixture.create() : fixture.shared());
  const { exit, stderr } = await fixture.sh(runtime, `[ -e run ] || { ${WORK}; }`, inside(runtime));
  assert.equal(exit.code, 0, stderr);
  return runtime;
}

/** A copy of a sandbox that runs. Where it cannot be frozen, that is refused by name, and it is stopped for it. */
async function copied(
  fixture: SandboxFixture,
  source: SandboxRuntime,
  changes: Partial<SandboxSpec> = {},
): Promise<SandboxRuntime> {
  const { create, lacking } = fixture;
  if (!lacking.includes('pause')) return await create({ ...changes, copyOf: source.id });
  await source.spawn({ argv: ['sh', '-c', 'exit'] });
  await assert.rejects(create({ ...changes, copyOf: source.id }), (error) => isLitterboxError(error, 'UNSUPPORTED'));
  await source.stop();
  const copy = await create({ ...changes, copyOf: source.id });
  await source.start();
  return copy;
}

async function scanned(runtime: SandboxRuntime, mark?: string): Promise<{ next: string; seen: readonly string[] }> {
  const { next, changes } = await runtime.scan(mark);
  const seen: string[] = [];
  for await (const change of changes) seen.push(textOf(change));
  return { next, seen: seen.sort() };
}

function textOf(change: ChangedPath): string {
  const children = change.type === 'directory' ? change.children.map(({ name, type }) => `${type} ${name}`).sort() : [];
  return `${change.type} ${change.path} ${children.join()}`;
}

/** Sandboxes that begin as copies of others. */
export function copies(check: Check): void {
  /** Where the provider has none, core refuses before it is asked. */
  const where = (title: string, body: (fixture: SandboxFixture) => Promise<void>) =>
    check(title, async (fixture) => {
      if (!fixture.provider.traits.canCopy) return;
      if (!fixture.lacking.includes('copies')) return await body(fixture);
      const { id } = await fixture.create();
      await assert.rejects(fixture.create({ copyOf: id }), (error) => isLitterboxError(error, 'UNSUPPORTED'));
    });

  where('a copy has everything of its source: files of every kind, what is gone, home, playground', async (fixture) => {
    const source = await worked(fixture, 'shared');
    const before = await look(fixture, source);
    const copy = await copied(fixture, source);
    assert.equal(await look(fixture, copy), before);
    assert.equal(await look(fixture, source), before);
    // What is in it is an ordinary user's own: it can be changed and removed.
    const { exit, stderr } = await fixture.sh(
      copy,
      'chmod -R u+rwx . && cat secret && rm -rf ignored bin locked ~/.cache && echo 2 >>README',
    );
    assert.equal(exit.code, 0, stderr);
  });

  where('a copy and its source are apart: neither sees nor changes what the other one writes', async (fixture) => {
    const source = await worked(fixture);
    const copy = await copied(fixture, source);
    const before = await look(fixture, source);
    await fixture.sh(
      copy,
      'echo evil >README; echo evil >ignored/deep/file; rm -r bin dir; chmod 700 run; echo evil >~/.cache/file; echo evil >"$LITTERBOX_PLAYGROUND_OF_KIT/file"; touch evil',
      inside(copy),
    );
    assert.equal(await look(fixture, source), before);
    const after = await look(fixture, copy);
    await fixture.sh(
      source,
      'echo back >README; touch back; rm run; echo back >"$LITTERBOX_PLAYGROUND_OF_KIT/file"',
      inside(source),
    );
    assert.equal(await look(fixture, copy), after);
    await source[Symbol.asyncDispose]();
    await fixture.provider.remove(source.id);
    assert.equal(await look(fixture, copy), after, 'a copy outlives its source');
    assert.ok(
      (await fixture.sh(await copied(fixture, copy), 'cat README')).stdout === 'evil\n',
      'a copy can be copied',
    );
  });

  where('what the source runs goes on, and the copy is of one moment', async (fixture) => {
    const { sh, lacking } = fixture;
    if (lacking.includes('pause')) return; // refused, as the first test sees
    const source = await fixture.create();
    // `b` is never ahead of `a`, at no moment more than one behind.
    await using writer = await source.spawn({
      argv: ['sh', '-c', 'i=0; while :; do i=$((i+1)); echo $i >a.new; mv a.new a; echo $i >b.new; mv b.new b; done'],
    });
    const number = async () => Number((await sh(source, 'cat b 2>/dev/null; :')).stdout);
    await eventually(number, (now) => now > 0);
    const made = await Promise.all([1, 2, 3].map(() => copied(fixture, source)));
    const last = await number();
    await eventually(number, (now) => now > last, 4_000);
    await writer[Symbol.asyncDispose]();
    for (const copy of made) {
      const [a = 0, b = 0] = (await sh(copy, 'cat a b')).stdout.split('\n').map(Number);
      assert.ok(a > 0 && (a === b || a === b + 1), `a is ${a}, b is ${b}`);
      assert.equal((await sh(copy, 'cat b')).stdout, `${b}\n`, 'what the source runs does not run in the copy');
    }
  });

  where('a source that is paused or stopped stays so, and its copy runs', async (fixture) => {
    const source = await worked(fixture, 'shared');
    const before = await look(fixture, source);
    const stateOf = async () => {
      for await (const { id, state } of fixture.provider.list()) if (id === source.id) return state;
      return undefined;
    };
    if (await fixture.paused(source)) {
      assert.equal(await look(fixture, await fixture.create({ copyOf: source.id })), before);
      assert.equal(await stateOf(), 'paused');
      await assert.rejects(fixture.sh(source, 'true'), (error) => isLitterboxError(error, 'SANDBOX_PAUSED'));
      await source.resume();
      assert.equal(await look(fixture, source), before);
    }
    await source.stop();
    assert.equal(await look(fixture, await fixture.create({ copyOf: source.id })), before);
    assert.equal(await stateOf(), 'stopped');
    await source.start();
    assert.equal(await look(fixture, source), before);
  });

  where('without a mark the copy tells what the source would; with one, what came after', async (fixture) => {
    const source = await worked(fixture, 'shared');
    const { seen } = await scanned(source);
    const copy = await copied(fixture, source);
    const first = await scanned(copy);
    for (const one of seen) assert.ok(first.seen.includes(one), `${one} is missing in ${first.seen.join('\n')}`);
    await fixture.sh(copy, 'rm run; echo late >ignored/late');
    const later = (await scanned(copy, first.next)).seen;
    assert.ok(later.includes('file ignored/late '), later.join('\n'));
    assert.ok(
      later.some((one) => one.startsWith('directory  ') && !one.includes('file run')),
      later.join('\n'),
    );
    assert.ok(!later.includes('file bin/other '), later.join('\n'));
  });

  where('what is gone again from the top of the workspace is told by the copy', async (fixture) => {
    const source = await fixture.create();
    await fixture.sh(source, 'echo x >there');
    await scanned(source);
    await fixture.sh(source, 'rm there');
    const { seen } = await scanned(await copied(fixture, source));
    assert.ok(
      seen.some((one) => one.startsWith('directory  ') && !one.includes('there')),
      seen.join('\n'),
    );
  });

  where('a copy stands on the kept setup and on the base that its source stands on', async (fixture) => {
    const { provider, create, sh } = fixture;
    const key = crypto.randomUUID().replaceAll('-', '');
    const maker = await create();
    await sh(maker, 'mkdir modules && echo one >modules/file && echo home >~/file && rm dir/a');
    await maker[Symbol.asyncDispose]();
    await provider.setups?.keep(maker.id, key);
    const source = await create({ prepared: [key] });
    await sh(source, 'mkdir -p modules && echo two >modules/file; echo two >README');
    const workspace = { key: 'abababab', open: () => assert.fail('the base of the source is what counts') };
    const copy = await copied(fixture, source, { workspace });
    assert.equal(copy.prepared, source.prepared);
    const script = 'cat modules/file README ~/file 2>&1; ls -A dir modules ~; cat dir/sub/b';
    assert.equal((await sh(copy, script)).stdout, (await sh(source, script)).stdout);
  });

  where(
    'a copy under an id that is taken is ALREADY_EXISTS, and the sandbox that has it is unharmed',
    async ({ create, provider, sh, spec }) => {
      const source = await create();
      const other = await create();
      await sh(other, 'echo mine >mine; echo play >"$LITTERBOX_PLAYGROUND_OF_KIT/file"', inside(other));
      await source.stop(); // one that runs cannot be copied everywhere
      const again = provider.create(spec({ id: other.id, copyOf: source.id }));
      await assert.rejects(again, (error) => isLitterboxError(error, 'ALREADY_EXISTS'));
      const script = 'cat mine "$LITTERBOX_PLAYGROUND_OF_KIT/file"';
      assert.equal((await sh(other, script, inside(other))).stdout, 'mine\nplay\n');
    },
  );

  where(
    'a source that nobody made is NOT_FOUND, an aborted copy rejects with its reason; nothing is left',
    async (fixture) => {
      const { provider, spec, sh } = fixture;
      const source = await worked(fixture);
      const before = await idsOf(fixture);
      await assert.rejects(provider.create(spec({ copyOf: SandboxId.make() })), (error) =>
        isLitterboxError(error, 'NOT_FOUND'),
      );
      await sh(source, 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo $i >many-$i; done');
      const reason = new Error('enough');
      await assert.rejects(
        provider.create(spec({ copyOf: source.id }), { signal: AbortSignal.abort(reason) }),
        (error) => error === reason,
      );
      for (const afterMs of [0, 20, 60]) {
        const aborting = new AbortController();
        const timer = setTimeout(() => aborting.abort(reason), afterMs);
        const changes = spec({ copyOf: source.id });
        const made = await provider.create(changes, { signal: aborting.signal }).catch((error: unknown) => {
          if (error !== reason && !isLitterboxError(error, 'UNSUPPORTED')) throw error;
          return undefined;
        });
        clearTimeout(timer);
        await made?.[Symbol.asyncDispose]();
        if (made) await provider.remove(changes.id);
      }
      assert.deepEqual([...(await idsOf(fixture))].sort(), [...before].sort());
      assert.equal((await sh(source, 'cat many-300')).stdout, '300\n', 'the source goes on');
    },
  );

  where('a copy of a sandbox with a limit of disk has its files, the same limit, and no other', async (fixture) => {
    const { provider, create, spec, sh } = fixture;
    if (!provider.traits.limits.includes('diskBytes')) return; // refused, as the limits' own tests see
    const limits = { diskBytes: 48 * 2 ** 20 };
    const source = await create({ limits });
    await sh(source, WORK, inside(source));
    const before = await look(fixture, source);
    const running = await copied(fixture, source, { limits });
    await source.stop();
    const copies = [running, await create({ limits, copyOf: source.id })];
    for (const copy of copies) {
      assert.equal(await look(fixture, copy), before);
      const { exit } = await sh(copy, 'head -c 64000000 /dev/zero >big', inside(copy));
      assert.notEqual(exit.code, 0, 'its disk is bounded too');
      await sh(copy, 'rm big; echo evil >README');
    }
    await source.start();
    assert.equal(await look(fixture, source), before);
    for (const diskBytes of [undefined, 2 * limits.diskBytes])
      await assert.rejects(
        provider.create(spec({ copyOf: source.id, limits: diskBytes === undefined ? {} : { diskBytes } })),
        (error) => isLitterboxError(error, 'UNSUPPORTED'),
      );
  });

  where('a copy that is to be made of something else than its source is UNSUPPORTED', async (fixture) => {
    const { provider, spec } = fixture;
    const source = await fixture.shared();
    for (const changes of [{ strategy: 'another' }, { root: { type: 'directory', path: '/nowhere' } }] as const)
      await assert.rejects(provider.create(spec({ ...changes, copyOf: source.id })), (error) =>
        isLitterboxError(error, 'UNSUPPORTED'),
      );
  });
}
