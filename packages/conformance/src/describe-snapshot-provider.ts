import assert from 'node:assert/strict';
import {
  isLitterboxError,
  type KeptSnapshot,
  MAX_SNAPSHOT_NOTE_BYTES,
  SandboxId,
  type SnapshotName,
  type SnapshotProvider,
  type TakeSnapshotOptions,
} from '@litterbox/core/provider';
import { eventually } from './eventually.ts';
import { type SandboxFixture, type SandboxProviderOptions, suite } from './sandbox-provider/suite.ts';

/** The contract of `SnapshotProvider`, executable, for a provider that has `snapshots`. */
export function describeSnapshotProvider(options: SandboxProviderOptions): void {
  suite(options, 'snapshots', (check) => {
    const over = (title: string, body: (snapshots: SnapshotProvider, fixture: SandboxFixture) => Promise<void>) =>
      check(title, async (fixture) => {
        const { snapshots, traits } = fixture.provider;
        assert.ok(snapshots && traits.snapshotCost, 'the provider has snapshots and says what they cost');
        const taken = new Set<SnapshotName>();
        const kept: SnapshotProvider = {
          take: async (id, call) => {
            const name = await takenOf(snapshots, fixture, id, call);
            taken.add(name);
            return name;
          },
          restore: (...args) => snapshots.restore(...args),
          list: (...args) => snapshots.list(...args),
          usage: (...args) => snapshots.usage(...args),
          remove: (...args) => snapshots.remove(...args),
        };
        try {
          await body(kept, fixture);
        } finally {
          for (const name of taken) await snapshots.remove(name);
        }
      });

    over('restoring brings everything back as it was, and takes away what came since', async (snapshots, fixture) => {
      const { create, sh } = fixture;
      const { id } = await create();
      const runtime = await fixture.provider.open(id);
      await sh(runtime, `${MAKE} && rm dir/a && echo kept >README`);
      const before = (await sh(runtime, LOOK)).stdout;
      const name = await snapshots.take(id);
      assert.match(name, /^[\w.-]+$/);
      assert.ok(name !== '.' && name !== '..');
      await sh(runtime, 'chmod -R u+w . && rm -rf * .[!.]* && echo new >README && mkdir new && echo new >new/file');
      await runtime[Symbol.asyncDispose]();
      await snapshots.restore(id, name);
      await using again = await fixture.provider.open(id);
      assert.equal((await sh(again, LOOK)).stdout, before);
    });

    over('a snapshot stays as it is, however often it is restored and written over', async (snapshots, fixture) => {
      const { id } = await fixture.create();
      await inside(fixture, id, 'echo one >file');
      const name = await snapshots.take(id);
      for (const round of ['two', 'three']) {
        await inside(fixture, id, `echo ${round} >>file; echo ${round} >README; rm -rf dir`);
        await snapshots.restore(id, name);
        assert.equal(await inside(fixture, id, 'cat file README dir/a'), 'one\nread me\na\n');
      }
    });

    over('snapshots are apart: each brings its own state, in any order', async (snapshots, fixture) => {
      const { id } = await fixture.create();
      const names: SnapshotName[] = [];
      for (const state of ['1', '2', '3']) {
        await inside(fixture, id, `echo ${state} >state; echo ${state} >only${state}`);
        names.push(await snapshots.take(id));
      }
      assert.equal(new Set(names).size, 3);
      for (const index of [1, 0, 2]) {
        await snapshots.restore(id, names[index] ?? '');
        const only = Array.from({ length: index + 1 }, (_, at) => `only${at + 1}\n`).join('');
        assert.equal(await inside(fixture, id, 'cat state; ls | grep only'), `${index + 1}\n${only}`);
      }
    });

    over('a snapshot is of one moment, while programs write', async (snapshots, fixture) => {
      const { create, provider, sh, lacking } = fixture;
      const { id } = await create();
      const runtime = await provider.open(id);
      if (lacking.includes('pause')) {
        await sh(runtime, 'true');
        await assert.rejects(
          async () => await fixture.provider.snapshots?.take(id),
          (error) => isLitterboxError(error, 'UNSUPPORTED'),
        );
        await runtime[Symbol.asyncDispose]();
        return; // nothing more to test: it is refused by name
      }
      // `b` is never ahead of `a`, at no moment more than one behind.
      await using writer = await runtime.spawn({
        argv: ['sh', '-c', 'i=0; while :; do i=$((i+1)); echo $i >a.new; mv a.new a; echo $i >b.new; mv b.new b; done'],
      });
      await eventually(
        async () => (await sh(runtime, 'cat b 2>/dev/null; :')).stdout,
        (text) => text !== '',
      );
      const names: SnapshotName[] = [];
      for (let round = 0; round < 3; round += 1) names.push(await snapshots.take(id));
      const last = Number((await sh(runtime, 'cat b')).stdout);
      await eventually(
        async () => Number((await sh(runtime, 'cat b')).stdout),
        (now) => now > last, // what was frozen goes on
        4_000,
      );
      await writer[Symbol.asyncDispose]();
      await runtime[Symbol.asyncDispose]();
      for (const name of names) {
        await snapshots.restore(id, name);
        const [a = 0, b = 0] = (await inside(fixture, id, 'cat a b')).split('\n').map(Number);
        assert.ok(a === b || a === b + 1, `a is ${a}, b is ${b}`);
      }
    });

    over('a snapshot outlives its sandbox, and other instances list and restore it', async (snapshots, fixture) => {
      const { create, provider, another } = fixture;
      const { id } = await create();
      await inside(fixture, id, 'echo kept >file');
      const name = await snapshots.take(id);
      await provider.remove(id);
      const other = (await another()).snapshots;
      assert.ok(other);
      assert.ok((await namesOf(other)).includes(name));
      await create({ id });
      await other.restore(id, name);
      assert.equal(await inside(fixture, id, 'cat file README'), 'kept\nread me\n');
    });

    over('the list tells of each its sandbox, its time and what the caller noted', async (snapshots, fixture) => {
      const { id } = await fixture.create();
      await inside(fixture, id, 'echo 1 >file');
      const first = await snapshots.take(id, { note: ODD_NOTE });
      const second = await snapshots.take(id);
      const full = await snapshots.take(id, { note: "'".repeat(MAX_SNAPSHOT_NOTE_BYTES) });
      await snapshots.restore(id, first);
      const kept = new Map((await allOf(snapshots)).map((one) => [one.name, one]));
      const toldOf = (name: SnapshotName): KeptSnapshot => kept.get(name) ?? assert.fail('it is in no list');
      for (const name of [first, second, full]) {
        const { sandbox, takenAtMs } = toldOf(name);
        assert.equal(sandbox, id);
        assert.ok(Math.abs(takenAtMs - Date.now()) < DAY_MS, `it was taken at ${takenAtMs}`);
      }
      assert.ok(toldOf(first).takenAtMs <= toldOf(full).takenAtMs);
      assert.equal(toldOf(first).note, ODD_NOTE);
      assert.equal('note' in toldOf(second), false);
      assert.equal(toldOf(full).note, "'".repeat(MAX_SNAPSHOT_NOTE_BYTES));
    });

    over('usage tells what each of them takes, and nothing of those that are gone', async (snapshots, fixture) => {
      const { id } = await fixture.create();
      const names: SnapshotName[] = [];
      for (const file of ['one', 'two']) {
        await inside(fixture, id, `printf %s ${randomText()} >${file}`);
        names.push(await snapshots.take(id));
      }
      const [first = '', second = ''] = names;
      const gone = await snapshots.take(id);
      await snapshots.remove(gone);
      // Some file systems count what was written seconds later.
      const usages = await eventually(
        () => snapshots.usage([second, gone, first, 'no-such-snapshot']),
        (told) => (told.get(second)?.diskBytes ?? 0) - (told.get(first)?.diskBytes ?? 0) > USED_BYTES / 3,
        30_000,
      );
      assert.deepEqual([...usages.keys()].toSorted(), names.toSorted());
      for (const { diskBytes, ownBytes = 0 } of usages.values())
        assert.ok(ownBytes <= diskBytes, `${ownBytes} of its own in ${diskBytes}`);
      const reason = new Error('enough');
      await assert.rejects(snapshots.usage(names, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
    });

    over(
      'removing is idempotent, touches nothing else, and what was removed is in no list',
      async (snapshots, fixture) => {
        const { id } = await fixture.create();
        await inside(fixture, id, 'echo 1 >file');
        const [gone, kept] = [await snapshots.take(id), await snapshots.take(id)];
        await inside(fixture, id, 'echo 2 >file');
        await snapshots.remove(gone);
        await snapshots.remove(gone);
        const names = await namesOf(snapshots);
        assert.ok(!names.includes(gone) && names.includes(kept));
        assert.equal(await inside(fixture, id, 'cat file'), '2\n');
        await snapshots.restore(id, kept);
        assert.equal(await inside(fixture, id, 'cat file'), '1\n');
      },
    );

    over(
      'a sandbox that nobody made is NOT_FOUND, an aborted call rejects with its reason',
      async (snapshots, fixture) => {
        await assert.rejects(snapshots.take(SandboxId.make()), (error) => isLitterboxError(error, 'NOT_FOUND'));
        const { id } = await fixture.create();
        const before = await namesOf(snapshots);
        const reason = new Error('enough');
        const call = { signal: AbortSignal.abort(reason) };
        await assert.rejects(snapshots.take(id, call), (error) => error === reason);
        assert.deepEqual(await namesOf(snapshots), before);
        const name = await snapshots.take(id);
        await assert.rejects(snapshots.restore(id, name, call), (error) => error === reason);
        await assert.rejects(snapshots.remove(name, call), (error) => error === reason);
        await assert.rejects(
          async () => {
            for await (const one of snapshots.list(call)) assert.fail(one.name);
          },
          (error) => error === reason,
        );
        assert.ok((await namesOf(snapshots)).includes(name));
      },
    );
  });
}

/** Where nothing can be frozen the sandbox is stopped for it. */
async function takenOf(
  snapshots: SnapshotProvider,
  { provider, lacking }: SandboxFixture,
  id: SandboxId,
  options?: TakeSnapshotOptions,
): Promise<SnapshotName> {
  if (!lacking.includes('pause')) return await snapshots.take(id, options);
  await using runtime = await provider.open(id, options);
  await runtime.stop();
  try {
    return await snapshots.take(id, options);
  } finally {
    await runtime.start();
  }
}

/** Words that quoting, a line or a parser could change. */
const ODD_NOTE = ' {"label":"\'$HOME\' `id`"}\\n\ttwo\nlines\u2028\u00e9\u{1F4E6} ';
const DAY_MS = 86_400_000;
const USED_BYTES = 96 * 1024;
/** So many characters, which a file system that compresses stores in half as many bytes at least. */
function randomText(): string {
  let text = '';
  while (text.length < USED_BYTES) text += crypto.randomUUID().replaceAll('-', '');
  return text.slice(0, USED_BYTES);
}
/** Files of every kind, with odd names and modes. */
const MAKE = `printf x >'new
line'; printf x >"$(printf 'non-utf8-\\377')"; mkdir -p deep/er && echo d >deep/er/file && ln deep/er/file hard && ln -s nowhere dangling && mkfifo pipe &&
echo '#!/bin/sh' >run && chmod 751 run && mkdir locked && echo x >locked/file && chmod 500 locked && : >empty`;
const LOOK = `find . | sort; cat README deep/er/file locked/file; ls -ld run locked | cut -c1-10; readlink dangling; [ -p pipe ] && echo fifo; [ deep/er/file -ef hard ] && echo same`;

/** Runs a script in a runtime of its own: a snapshot may end those that are open. */
async function inside({ provider, sh }: SandboxFixture, id: SandboxId, script: string): Promise<string> {
  await using runtime = await provider.open(id);
  const { stdout, stderr, exit } = await sh(runtime, script);
  assert.equal(exit.code, 0, stderr);
  return stdout;
}

async function namesOf(snapshots: SnapshotProvider): Promise<readonly SnapshotName[]> {
  return (await allOf(snapshots)).map(({ name }) => name);
}

async function allOf(snapshots: SnapshotProvider): Promise<readonly KeptSnapshot[]> {
  const all: KeptSnapshot[] = [];
  for await (const one of snapshots.list()) all.push(one);
  return all;
}
