import assert from 'node:assert/strict';
import {
  type CallOptions,
  isLitterboxError,
  SandboxId,
  type SandboxRuntime,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { assertAllAbort } from '../assert-all-abort.ts';
import { collected } from '../collected.ts';
import { fixtureWorkspace } from '../fixture-workspace.ts';
import { type SandboxFixture, type Check, FIXTURE } from './suite.ts';

/** What was prepared for nobody, at rest, and what a create would ask for by now. */
async function prepared(
  fixture: SandboxFixture,
  changes: Partial<SandboxSpec> = {},
  script = 'true',
): Promise<SandboxSpec> {
  const { provider, spec, sh, lacking } = fixture;
  const made = spec({ slug: 'pooled', isPooled: true, ...changes });
  const runtime = await provider.create(made);
  await sh(runtime, script);
  await runtime[Symbol.asyncDispose]();
  if (!lacking.includes('pause')) {
    await using waiting = await provider.open(made.id);
    await waiting.pause();
  }
  const { isPooled: _, ...wanted } = made;
  return { ...wanted, slug: 'given' };
}

async function statusOf({ provider }: SandboxFixture, id: SandboxId) {
  for await (const status of provider.list()) if (status.id === id) return status;
  return undefined;
}

/** Sandboxes that were made in advance and are given away. */
export function claims(check: Check): void {
  const claimCheck = (title: string, body: (fixture: SandboxFixture, claim: Claim) => Promise<void>) =>
    check(title, async (fixture) => {
      const { provider, create } = fixture;
      if (!provider.claim) return void (await create()); // it is never asked for one; that it makes ordinary ones is all there is to see
      await body(fixture, async (spec, options, by = provider) => {
        if (!by.claim) throw new Error('Another instance of the provider cannot claim.');
        return await by.claim(spec.id, spec, options);
      });
    });

  claimCheck(
    'claims: who takes a prepared sandbox gets one with its name and environment, that runs and can be opened',
    async (fixture, claim) => {
      const { provider, another, sh } = fixture;
      const wanted = await prepared(fixture, { environment: { OWN: 'x' } }, 'echo made >made; echo kept >~/kept');
      const before = await statusOf(fixture, wanted.id);
      assert.deepEqual(
        [before?.isPooled, before?.state],
        [true, fixture.lacking.includes('pause') ? 'running' : 'paused'],
      );
      await using taken = await claim(wanted, undefined, await another());
      assert.equal(taken.id, wanted.id);
      assert.equal(taken.environment['LITTERBOX_SANDBOX'], 'given');
      const look =
        'echo $LITTERBOX_SANDBOX $OWN; cat made ~/kept README; tr "\\0" "\\n" </proc/self/environ | grep -c pooled';
      assert.equal((await sh(taken, look)).stdout, 'given x\nmade\nkept\nread me\n0\n');
      const after = await statusOf(fixture, wanted.id);
      assert.deepEqual([after?.isPooled ?? false, after?.state], [false, 'running']);
      await using opened = await provider.open(wanted.id);
      assert.equal(opened.environment['LITTERBOX_SANDBOX'], 'given');
      assert.equal((await sh(opened, 'echo $LITTERBOX_SANDBOX')).stdout, 'given\n');
      await opened.stop();
      await opened.start();
      assert.equal((await sh(opened, 'echo $LITTERBOX_SANDBOX; cat made')).stdout, 'given\nmade\n');
    },
  );

  claimCheck('claims: no mark means all since the base, what was done in advance included', async (fixture, claim) => {
    const wanted = await prepared(fixture, {}, 'echo made >made; rm dir/a');
    await using taken = await claim(wanted);
    const paths: string[] = [];
    for await (const { path } of (await taken.scan(undefined)).changes) paths.push(path);
    assert.ok(paths.includes('made') && paths.includes('dir'), paths.join());
  });

  claimCheck(
    'claims: a sandbox is given away once, and only one that was prepared: else NOT_FOUND, and nothing changes',
    async (fixture, claim) => {
      const { create, spec, another, sh } = fixture;
      const isNotFound = (error: unknown) => isLitterboxError(error, 'NOT_FOUND');
      await assert.rejects(claim(spec({ slug: 'nobody' })), isNotFound);
      const own = spec({ slug: 'own' });
      await using ordinary = await create(own);
      await assert.rejects(claim({ ...own, slug: 'thief' }), isNotFound);
      assert.equal((await sh(ordinary, 'echo $LITTERBOX_SANDBOX')).stdout, 'own\n');
      const wanted = await prepared(fixture);
      const other = await another();
      const both = await Promise.allSettled([claim(wanted), claim({ ...wanted, slug: 'second' }, undefined, other)]);
      const taken = both.filter((one): one is PromiseFulfilledResult<SandboxRuntime> => one.status === 'fulfilled');
      const [refused] = both.filter((one) => one.status === 'rejected');
      assert.equal(taken.length, 1);
      assert.ok(refused && isNotFound(refused.reason), String(refused?.reason));
      await assert.rejects(claim({ ...wanted, slug: 'third' }), isNotFound);
      const name = taken[0]?.value.environment['LITTERBOX_SANDBOX'];
      for (const { value: runtime } of taken) {
        assert.equal((await sh(runtime, 'echo $LITTERBOX_SANDBOX')).stdout, `${name}\n`);
        await runtime[Symbol.asyncDispose]();
      }
    },
  );

  claimCheck(
    'claims: one that create would make otherwise by now is a CONFLICT, and stays what it was',
    async (fixture, claim) => {
      const { sh } = fixture;
      const wanted = await prepared(fixture, { environment: { OWN: 'x' }, limits: { processes: 64 } });
      const others: readonly Partial<SandboxSpec>[] = [
        { workspace: fixtureWorkspace('a1a1a1a1', FIXTURE) },
        { workdir: '/work' },
        { environment: {} },
        { environment: { OWN: 'y' } },
        { limits: { processes: 65 } },
        { playground: '00000000-0000-4000-8000-000000000000' },
        { allowDegraded: !wanted.allowDegraded },
      ];
      for (const other of others)
        await assert.rejects(
          claim({ ...wanted, ...other }),
          (error) => isLitterboxError(error, 'CONFLICT'),
          Object.keys(other).join(),
        );
      assert.equal((await statusOf(fixture, wanted.id))?.isPooled, true);
      await using taken = await claim(wanted);
      assert.equal((await sh(taken, 'echo $LITTERBOX_SANDBOX')).stdout, 'given\n');
    },
  );

  claimCheck(
    'claims: one that was aborted rejects with the reason, and leaves what can be removed',
    async (fixture, claim) => {
      const { provider } = fixture;
      const wanted = await prepared(fixture);
      await assertAllAbort((call) => ({ claim: () => claim(wanted, call) }));
      const late = new AbortController();
      const claiming = claim(wanted, { signal: late.signal });
      const reason = new Error('changed my mind');
      queueMicrotask(() => late.abort(reason));
      const [outcome] = await Promise.allSettled([claiming]);
      if (outcome?.status === 'fulfilled') await outcome.value[Symbol.asyncDispose]();
      else assert.equal(outcome?.reason, reason);
      await provider.remove(wanted.id);
      assert.equal(await statusOf(fixture, wanted.id), undefined);
    },
  );

  claimCheck('claims: one that was prepared and never given away is removed like any other', async (fixture) => {
    const { provider, host } = fixture;
    // Its own, so that another run of the kit on this machine is not met.
    const seconds = String(4_000_000 + ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % 1_000_000));
    const { id } = await prepared(fixture, {}, `sleep ${seconds} >/dev/null 2>&1 & echo`);
    await provider.remove(id);
    assert.equal(await statusOf(fixture, id), undefined);
    await assert.rejects(provider.open(id), (error) => isLitterboxError(error, 'NOT_FOUND'));
    const { stdout } = await collected(
      await host.spawn({ argv: ['sh', '-c', 'cat /proc/[0-9]*/cmdline 2>/dev/null'] }),
    );
    assert.ok(!stdout.includes(`sleep\0${seconds}`), 'what ran in it still does');
  });
}

type Claim = (spec: SandboxSpec, options?: CallOptions, by?: SandboxFixture['provider']) => Promise<SandboxRuntime>;
