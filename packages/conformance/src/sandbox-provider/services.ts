import assert from 'node:assert/strict';
import {
  type Clock,
  decodeRaw,
  SandboxServices,
  type SandboxRuntime,
  type ServicePolicy,
  type ServiceStatus,
} from '@litterbox/core/provider';
import { eventually } from '../eventually.ts';
import type { SandboxFixture, Check } from './suite.ts';
import { tcpServerCommand } from './tcp-server.ts';

/** Counts in memory alone, twenty milliseconds each. */
const TICKING = 'i=0; while :; do i=$((i+1)); echo $i >>ticks; sleep 0.02; done';

/** Services: core's own code that looks after them, over the runtime under test. */
export function services(check: Check): void {
  check('services: started in their order when those before are up, in workspace and environment', async (fixture) => {
    const runtime = await fixture.create({ environment: { KIT_VARIABLE: 'of the sandbox' } });
    await using kept = keep(runtime, [
      service('first', 'echo first >>order; sleep 0.2; : >up; exec sleep 1000', {
        health: { command: ['test', '-e', 'up'] },
      }),
      service('second', '[ -e up ] && echo second >>order', { after: ['first'] }),
      service('third', 'echo third >>order; echo "$LITTERBOX_SERVICE|$KIT_PORT|$KIT_VARIABLE|$PWD"; exec sleep 1000', {
        after: ['second'],
      }),
    ]);
    await kept.start();
    assert.deepEqual(states(kept), ['first running', 'second exited', 'third running']);
    assert.equal((await fixture.sh(runtime, 'cat order')).stdout, 'first\nsecond\nthird\n');
    assert.equal(logOf(kept, 'third'), `third|8080|of the sandbox|${runtime.workdir}\n`);
  });

  check('services: restarted and stopped by the signals of their own, and how they ended is told', async (fixture) => {
    const runtime = await fixture.shared();
    await using kept = keep(runtime, [
      service(
        'own',
        'trap "echo reloaded" HUP; trap "echo bye; exit 7" INT; echo up; while :; do sleep 0.05; done 2>/dev/null',
        {
          signals: { stop: 'SIGINT', restart: 'SIGHUP' },
        },
      ),
      service('plain', 'exec sleep 1000', { signals: { stop: 'SIGQUIT' } }),
    ]);
    await kept.start();
    await eventually(
      async () => logOf(kept, 'own'),
      (log) => log === 'up\n',
    );
    await kept.services.get('own')?.restart();
    await eventually(
      async () => logOf(kept, 'own'),
      (log) => log.endsWith('reloaded\n'),
    );
    await kept.stop();
    const [own, plain] = kept.status();
    assert.deepEqual([own?.state, own?.exit, own?.restarts], ['stopped', { code: 7 }, 0]);
    assert.deepEqual([plain?.state, plain?.exit], ['stopped', { code: 131, signal: 'SIGQUIT' }]);
    assert.match(logOf(kept, 'own'), /^up\n[^]*reloaded\n[^]*bye\n/);
    await kept.services.get('own')?.start();
    assert.deepEqual(states(kept), ['own running', 'plain stopped']);
  });

  check(
    'services: outlive who made the sandbox and every call beside them, and others see what they do',
    async (fixture) => {
      const { create, another, sh } = fixture;
      const made = await create();
      await using runtime = await (await another()).open(made.id);
      await using kept = keep(runtime, [service('ticking', TICKING)]);
      await kept.start();
      for (let call = 0; call < 3; call += 1) await sh(made, ':');
      await made[Symbol.asyncDispose]();
      await using other = await (await another()).open(made.id);
      const seen = async () => await ticksOf(fixture, other);
      const { length } = await seen();
      const ticks = await eventually(seen, (now) => now.length > length + 5);
      assertCounts(ticks);
      assert.deepEqual(states(kept), ['ticking running']);
      await kept.stop();
      const last = (await seen()).length;
      await sh(other, 'sleep 0.1');
      assert.equal((await seen()).length, last, 'it ran on although it was stopped');
    },
  );

  check('services: what somebody left who was killed is ended, and runs once under the next', async (fixture) => {
    const { create, another } = fixture;
    const runtime = await create();
    // Of who is killed nothing is disposed: it is forgotten.
    const forgotten = keep(runtime, [
      service('one', 'sleep 4331 & exec sleep 4331'),
      service('two', 'exec sleep 4331'),
    ]);
    await forgotten.start();
    await using other = await (await another()).open(runtime.id);
    forgotten.release();
    assert.equal(await countOf(fixture, other, '4331'), 3); // positive control
    await using kept = keep(other, [service('two', 'exec sleep 4331')]);
    await kept.endLeftOver();
    assert.equal(await countOf(fixture, other, '4331'), 0);
    await kept.start();
    assert.equal(await countOf(fixture, other, '4331'), 1);
    await forgotten[Symbol.asyncDispose]();
  });

  check(
    'services: those that crash, are deaf, go away, flood or do not exist are contained and told',
    async (fixture) => {
      const runtime = await fixture.shared();
      await using kept = keep(runtime, [
        service('crash', 'echo going down >&2; exit 3'),
        service('once', 'exit 4', { restart: 'never' }),
        service('deaf', 'trap "" TERM INT HUP; echo deaf; while :; do sleep 1000; done', { stopTimeoutMs: 200 }),
        service('away', '(sleep 4332 & sleep 4332) & exit 0'),
        service('flood', 'exec yes flood'),
        service('missing', '', { command: ['no-such-program-of-the-kit'], restart: 'never' }),
      ]);
      await kept.start();
      // What ended is looked after a little later than it ended.
      const [, once, deaf, away, flood, missing] = await eventually(
        async () => kept.status(),
        (now) => now[1]?.state === 'failed' && now[3]?.state === 'exited',
      );
      // It is started again and again, and has no exit code while it runs.
      const exit = await eventually(
        async () => kept.status()[0]?.exit,
        (ended) => ended !== undefined,
      );
      assert.deepEqual(exit, { code: 3 });
      assert.deepEqual([once?.state, once?.exit, once?.restarts], ['failed', { code: 4 }, 0]);
      assert.equal(deaf?.state, 'running');
      assert.equal(away?.state, 'exited');
      assert.match(away.note ?? '', /left (a process|[23] processes) /); // whichever had begun when it ended
      assert.equal(flood?.state, 'running');
      assert.equal(missing?.state, 'failed');
      assert.match(missing.note ?? '', /no-such-program-of-the-kit/);
      await eventually(
        async () => logOf(kept, 'crash'),
        (log) => log.split('going down\n').length > 2, // that it ended may be noted before what it printed
      );
      assert.ok((kept.status()[0]?.restarts ?? 0) > 0);
      const flooded = kept.services.get('flood')?.log;
      await eventually(
        async () => flooded?.totalBytes ?? 0,
        (bytes) => bytes > 2 ** 21,
      );
      assert.ok((flooded?.since(0).bytes.length ?? 0) <= 2 ** 20, 'more than a MiB of what it printed is held');
      assert.equal((await fixture.sh(runtime, 'echo fine')).stdout, 'fine\n');
      assert.equal(await countOf(fixture, runtime, '4332'), 2); // positive control
      await kept.stop();
      assert.deepEqual(new Set(kept.status().map(({ state }) => state)), new Set(['stopped']));
      assert.equal(kept.status()[2]?.exit?.code, 137, 'the deaf one was killed');
      assert.equal(await countOf(fixture, runtime, '4332'), 0);
      assert.equal(await countOf(fixture, runtime, 'flood'), 0);
    },
  );

  check(
    'services: one that fills the sandbox with processes is cleared away, and the others run on',
    async (fixture) => {
      if (fixture.lacking.includes('processes')) return;
      const runtime = await fixture.create({ limits: { processes: 64 } });
      await using kept = keep(runtime, [
        service('steady', 'exec sleep 4335'),
        // What cannot start one more ends a shell.
        service('hog', 'while :; do sleep 4333 & done', { restart: 'never', after: ['steady'] }),
      ]);
      await kept.start();
      await eventually(
        async () => states(kept)[1],
        (state) => state === 'hog failed',
      );
      await eventually(
        // As long as it is full nothing can be started that would count.
        () => countOf(fixture, runtime, '4333').catch(() => Number.POSITIVE_INFINITY),
        (count) => count === 0,
      );
      assert.equal(await countOf(fixture, runtime, '4335'), 1);
      assert.equal(states(kept)[0], 'steady running');
      assert.equal(kept.status()[0]?.restarts, 0);
    },
  );

  check('services: one that fills its memory is killed, and the others run on', async (fixture) => {
    if (fixture.lacking.includes('memory')) return; // that it is told as missing, and refused, is tested with all controls
    const runtime = await fixture.create({ limits: { memoryBytes: 96 * 2 ** 20 } });
    await using kept = keep(runtime, [
      service('ticking', TICKING),
      // A line without an end is held in memory.
      service('greedy', 'exec tail -n 1 /dev/zero', { restart: 'never' }),
    ]);
    await kept.start();
    const greedy = await eventually(
      async () => kept.status()[1],
      (now) => now?.state === 'failed',
      30_000,
    );
    assert.deepEqual(greedy?.exit, { code: 137, signal: 'SIGKILL' });
    const { length } = await ticksOf(fixture, runtime);
    assertCounts(
      await eventually(
        () => ticksOf(fixture, runtime),
        (now) => now.length > length,
      ),
    );
    assert.deepEqual([states(kept)[0], kept.status()[0]?.restarts], ['ticking running', 0]);
  });

  check(
    'services: one that fills the disk, where the traits limit it, fails and says so; what it prints is kept',
    async (fixture) => {
      if (!fixture.provider.traits.limits.includes('diskBytes') || fixture.lacking.includes('disk')) return;
      const runtime = await fixture.create({ limits: { diskBytes: 16 * 2 ** 20 } });
      await using kept = keep(runtime, [
        service('hoarder', 'dd if=/dev/zero of=fill bs=65536 count=512 || exit 5', { restart: 'never' }),
        service('talker', 'until [ -e fill ]; do sleep 0.02; done; echo still here; exec sleep 1000'),
      ]);
      await kept.start();
      await eventually(
        async () => states(kept)[0],
        (state) => state === 'hoarder failed',
      );
      assert.match(logOf(kept, 'hoarder'), /No space left on device|Disk quota exceeded/);
      await eventually(
        async () => logOf(kept, 'talker'),
        (log) => log === 'still here\n',
      );
      await kept.stop();
      assert.equal((await fixture.sh(runtime, 'rm fill && echo room >file && cat file')).stdout, 'room\n');
    },
  );

  check('services: a pause holds them, and they go on where they were', async (fixture) => {
    const runtime = await fixture.create();
    let isAwake = true;
    await using kept = keep(runtime, [service('ticking', TICKING)], () => isAwake);
    await kept.start();
    const before = (
      await eventually(
        () => ticksOf(fixture, runtime),
        ({ length }) => length > 5,
      )
    ).length;
    if (!fixture.lacking.includes('pause')) isAwake = false;
    const isPaused = await fixture.paused(runtime);
    assert.deepEqual(states(kept), ['ticking running']);
    if (isPaused) await runtime.resume();
    isAwake = true;
    assertCounts(
      await eventually(
        () => ticksOf(fixture, runtime),
        ({ length }) => length > before + 5,
      ),
    );
    assert.equal(kept.status()[0]?.restarts, 0);
    await kept.stop();
    assert.deepEqual(states(kept), ['ticking stopped']);
  });

  check('services: stop() ends them, start() lets them begin again, and remove() leaves none', async (fixture) => {
    const { create, another, provider } = fixture;
    const runtime = await create();
    await using other = await (await another()).open(runtime.id);
    let isAwake = true;
    await using kept = keep(runtime, [service('sleeper', 'echo up; exec sleep 4334')], () => isAwake);
    await kept.start();
    isAwake = false;
    await other.stop();
    await eventually(
      async () => states(kept)[0],
      (state) => state === 'sleeper waiting',
    );
    await other.start();
    assert.equal(await countOf(fixture, other, '4334'), 0, 'it ran on in a sandbox that was stopped');
    isAwake = true;
    await eventually(
      async () => states(kept)[0],
      (state) => state === 'sleeper running',
    );
    assert.equal(await countOf(fixture, other, '4334'), 1);
    assert.equal(kept.status()[0]?.restarts, 1);
    isAwake = false;
    await provider.remove(runtime.id);
    await eventually(
      async () => states(kept)[0],
      (state) => state !== 'sleeper running',
    );
    await kept.stop();
    assert.deepEqual(states(kept), ['sleeper stopped']);
  });

  check('services: healthy when the port answers, and not before', async (fixture) => {
    const runtime = await fixture.shared();
    if (!runtime.connect) return;
    const server = tcpServerCommand(8080, '127.0.0.1', 'served');
    await using kept = keep(runtime, [
      service('web', '', {
        command: ['sh', '-c', 'sleep 0.5; : >listens-soon; exec "$@"', 'sh', ...server],
        health: { port: 8080 },
      }),
    ]);
    await kept.start();
    assert.deepEqual(states(kept), ['web running']);
    assert.equal((await fixture.sh(runtime, 'ls listens-soon')).stdout, 'listens-soon\n');
    await using open = await runtime.connect(8080);
    const writer = open.writable.getWriter();
    await writer.write(new TextEncoder().encode('hello\n'));
    const { value } = await open.readable.getReader().read();
    assert.equal(decodeRaw(value ?? new Uint8Array()), 'hello from served\n');
  });
}

function service(name: string, script: string, changes: Partial<ServicePolicy> = {}): ServicePolicy {
  return {
    name,
    command: ['sh', '-c', script],
    signals: { stop: 'SIGTERM' },
    restart: 'on-failure',
    after: [],
    stopTimeoutMs: 5_000,
    ...changes,
  };
}

/** Services that are not started yet. What runs of them at the end goes with the sandbox. */
function keep(runtime: SandboxRuntime, policies: readonly ServicePolicy[], isAwake = () => true): SandboxServices {
  return new SandboxServices({
    runtime,
    services: policies,
    clock,
    variables: () => ({ KIT_PORT: '8080' }),
    isAwake: async () => isAwake(),
  });
}

const clock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (durationMs, { signal } = {}) =>
    new Promise((resolve, reject) => {
      const fail = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', fail);
        resolve();
      }, durationMs);
      if (signal?.aborted) fail();
      else signal?.addEventListener('abort', fail, { once: true });
    }),
};

function states(kept: SandboxServices): readonly string[] {
  return kept.status().map(({ name, state }: ServiceStatus) => `${name} ${state}`);
}

function logOf(kept: SandboxServices, name: string): string {
  return decodeRaw(kept.services.get(name)?.log.since(0).bytes ?? new Uint8Array());
}

/** How many programs inside have that last argument. By builtins alone, which count in a full sandbox too; `read` drops what is NUL. */
async function countOf({ sh }: SandboxFixture, runtime: SandboxRuntime, argument: string): Promise<number> {
  const script = `n=0
for f in /proc/[0-9]*/cmdline; do
line=
{ IFS= read -r line <"$f"; } 2>/dev/null
case $line in *${argument}) n=$((n+1));; esac
done
echo "count $n"`;
  const { stdout } = await sh(runtime, script);
  const [, count] = /^count (\d+)\n$/.exec(stdout) ?? [];
  assert.ok(count !== undefined, `It could not be counted: ${stdout}`);
  return Number(count);
}

/** The whole lines that {@link TICKING} wrote. */
async function ticksOf({ sh }: SandboxFixture, runtime: SandboxRuntime): Promise<readonly number[]> {
  const { stdout } = await sh(runtime, 'cat ticks 2>/dev/null; :');
  return stdout.split('\n').slice(0, -1).map(Number);
}

/** Each one more than the one before, from 1 on: one run alone wrote them. */
function assertCounts(ticks: readonly number[]): void {
  assert.deepEqual(
    ticks,
    ticks.map((_tick, index) => index + 1),
  );
}
