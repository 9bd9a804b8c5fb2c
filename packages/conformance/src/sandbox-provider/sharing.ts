import assert from 'node:assert/strict';
import { isLitterboxError, SandboxId, type SandboxProvider } from '@litterbox/core/provider';
import { assertAllAbort } from '../assert-all-abort.ts';
import { collected } from '../collected.ts';
import { eventually } from '../eventually.ts';
import { fixtureWorkspace } from '../fixture-workspace.ts';
import type { Check } from './suite.ts';

async function stateOf(provider: SandboxProvider, wanted: SandboxId): Promise<string | undefined> {
  for await (const { id, state } of provider.list()) if (id === wanted) return state;
  return undefined;
}

/** Several sandboxes, instances and calls at the same time. */
export function sharing(check: Check): void {
  check('of two that create one id at the same time, one has it and the other is told', async (fixture) => {
    const { provider, another, spec, sh } = fixture;
    const wanted = spec();
    const outcomes = await Promise.allSettled([
      provider.create(wanted),
      (await another()).create({ ...wanted, environment: { WHO: 'other' } }),
    ]);
    const [made, ...more] = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    assert.ok(made && more.length === 0, outcomes.map(({ status }) => status).join());
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        assert.ok(isLitterboxError(outcome.reason, 'ALREADY_EXISTS'), String(outcome.reason));
    assert.equal((await sh(made, 'cat README; echo mine >mine && cat mine')).stdout, 'read me\nmine\n');
    await made[Symbol.asyncDispose]();
  });

  check('four sandboxes at once on a base that nobody had are whole, and each its own', async (fixture) => {
    const { create, sh } = fixture;
    const key = `ca11${crypto.randomUUID().replaceAll('-', '')}`;
    const files = Array.from({ length: 200 }, (_, index) => ({ path: `dir${index % 7}/${index}`, content: 'x' }));
    const runtimes = await Promise.all(
      Array.from({ length: 4 }, async () => await create({ workspace: fixtureWorkspace(key, files) })),
    );
    const counts = await Promise.all(
      runtimes.map(async (runtime, index) => (await sh(runtime, `find . -type f | wc -l; echo ${index} >own`)).stdout),
    );
    assert.deepEqual(
      counts.map((text) => text.trim()),
      ['200', '200', '200', '200'],
    );
    const own = await Promise.all(runtimes.map(async (runtime) => (await sh(runtime, 'cat own')).stdout.trim()));
    assert.deepEqual(own, ['0', '1', '2', '3']);
  });

  check('what open() gives is what create() gave', async ({ create, another, sh }) => {
    const made = await create({ workdir: '/home/someone/project', environment: { KIT_VARIABLE: "it's\n$HOME" } });
    await using opened = await (await another()).open(made.id);
    const facts = ({ id, workdir, playground, environment, prepared }: typeof made) => ({
      id,
      workdir,
      playground,
      environment,
      prepared,
    });
    assert.deepEqual(facts(opened), facts(made));
    const { stdout } = await sh(opened, 'printf "%s|" "$KIT_VARIABLE" "$LITTERBOX_PLAYGROUND" "$PWD"');
    assert.equal(stdout, `it's\n$HOME|${made.playground}|/home/someone/project|`);
    const controls = async (runtime: typeof made) =>
      (await runtime.assurance()).controls.map(({ name, status }) => `${name} ${status}`);
    assert.deepEqual(await controls(opened), await controls(made));
  });

  check('disposing a runtime ends what it started, and nothing of what another one started', async (fixture) => {
    const { create, another, sh } = fixture;
    const stays = await create();
    const goes = await (await another()).open(stays.id);
    await using kept = await stays.spawn({ argv: ['sh', '-c', 'echo $$; exec sleep 4441'] });
    const ended = await goes.spawn({ argv: ['sleep', '4442'] });
    const outcome = ended.exit.then(
      ({ code }) => code !== 0,
      () => true,
    );
    const running = async () => [
      ...new Set(
        (await sh(stays, 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "; :')).stdout.match(/sleep 444\d/g),
      ),
    ];
    await eventually(running, (found) => found.length === 2);
    await goes[Symbol.asyncDispose]();
    await eventually(running, (found) => found.join() === 'sleep 4441');
    assert.equal(await outcome, true);
    await kept.kill('SIGKILL');
    assert.equal((await kept.exit).code, 137);
  });

  check(
    'two that remove at the same time succeed, while programs print; what is held says so soon',
    async (fixture) => {
      const { create, provider, another } = fixture;
      const runtime = await create();
      await using noisy = await runtime.spawn({
        argv: ['sh', '-c', 'while :; do echo noise >>file; echo noise; done'],
      });
      const output = collected(noisy).catch(() => undefined);
      await Promise.all([provider.remove(runtime.id), (await another()).remove(runtime.id)]);
      await output;
      assert.equal(await stateOf(provider, runtime.id), undefined);
      await assert.rejects(
        async () => await collected(await runtime.spawn({ argv: ['true'] })),
        (error) => isLitterboxError(error),
      );
      assert.equal(await stateOf(provider, runtime.id), undefined);
    },
  );

  check('an id that was removed can be made again, and nothing of the old sandbox is there', async (fixture) => {
    const { create, provider, sh } = fixture;
    const old = await create();
    await sh(old, 'echo old >old; echo old >README; rm -r dir; echo old >~/old; echo old >/tmp/old');
    await old[Symbol.asyncDispose]();
    await provider.remove(old.id);
    const anew = await create({ id: old.id });
    const { stdout } = await sh(anew, 'cat README dir/a; ls -A ~ /tmp . | grep old');
    assert.equal(stdout, 'read me\na\n');
    const told: string[] = [];
    for await (const { path } of (await anew.scan(undefined)).changes) told.push(path);
    assert.deepEqual(told, []);
  });

  check('list() tells what runs as running, and goes on while others come and go', async (fixture) => {
    const { create, provider, another, sh } = fixture;
    const stays = await create();
    await sh(stays, ':');
    const other = await another();
    const done = new AbortController();
    const coming = (async () => {
      const goes = await create();
      await goes[Symbol.asyncDispose]();
      await provider.remove(goes.id);
    })().finally(() => done.abort());
    const states = new Set<string | undefined>();
    while (!done.signal.aborted) states.add(await stateOf(other, stays.id));
    await coming;
    assert.deepEqual([...states], ['running']);
  });

  check('a call that was aborted before rejects with the reason, whichever it is', async ({ create, provider }) => {
    const runtime = await create();
    await assertAllAbort((call) => ({
      probe: () => provider.probe(call),
      open: () => provider.open(runtime.id, call),
      list: async () => {
        for await (const _status of provider.list(call));
      },
      remove: () => provider.remove(SandboxId.make(), call),
      assurance: () => runtime.assurance(call),
      spawn: () => runtime.spawn({ argv: ['true'] }, call),
      scan: async () => {
        for await (const _change of (await runtime.scan(undefined, call)).changes);
      },
      mark: () => runtime.mark(call),
      pause: () => runtime.pause(call),
      resume: () => runtime.resume(call),
      stop: () => runtime.stop(call),
      start: () => runtime.start(call),
      usage: () => runtime.usage(call),
      ...(runtime.connect && { connect: async () => runtime.connect?.(8080, call) }),
    }));
  });
}
