import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CALL_VARIABLE,
  CallGuard,
  decodeRaw,
  ExecChannel,
  isLitterboxError,
  type OutputChunk,
  type ProcessHandle,
  type SandboxRuntime,
  whatToRun,
} from '@litterbox/core/provider';
import { collected, joined } from '../collected.ts';
import { eventually } from '../eventually.ts';
import type { SandboxFixture, Check } from './suite.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly interruption: string | undefined;
}

/** The exec channel of core, over the provider's `spawn`. */
export function execChannel(check: Check): void {
  const over = (
    title: string,
    body: (
      channel: ExecChannel,
      run: (script: string, changes?: object, call?: object) => Promise<Ran>,
      fixture: SandboxFixture & { readonly runtime: SandboxRuntime },
    ) => Promise<void>,
    sandbox: 'shared' | 'own' = 'shared',
  ) =>
    check(title, async (fixture) => {
      const runtime = await (sandbox === 'shared' ? fixture.shared() : fixture.create());
      await using channel = new ExecChannel(runtime);
      const run = async (script: string, changes: object = {}, call: object = {}): Promise<Ran> => {
        const { exit, stdout, stderr, interruption } = await channel.run(
          { argv: ['sh', '-c', script], ...changes },
          call,
        );
        return { code: exit.code, stdout: decodeRaw(stdout.bytes), stderr: decodeRaw(stderr.bytes), interruption };
      };
      await body(channel, run, { ...fixture, runtime });
    });

  check('channel: what the kernel killed for memory is told, whatever program hid it', async (fixture) => {
    const { create, lacking, sh } = fixture;
    if (lacking.includes('memory')) return;
    const runtime = await create({ limits: { memoryBytes: 96 * 2 ** 20 } });
    const { stdout } = await sh(runtime, 'cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control');
    assert.match(stdout, /^oom_kill \d+$/m, 'programs inside cannot look up their control group of memory');
    await using channel = new ExecChannel(runtime);
    const killedBy = async (script: string) => {
      const { exit, killedForMemory } = await channel.run({ argv: ['sh', '-c', script] });
      return { code: exit.code, killedForMemory };
    };
    // tail keeps a line without an end in memory.
    const greedy = 'head -c 268435456 /dev/zero | tail -n 1 >/dev/null 2>&1';
    assert.deepEqual(await killedBy('true'), { code: 0, killedForMemory: undefined });
    assert.deepEqual(await killedBy(`${greedy}; exit 0`), { code: 0, killedForMemory: 1 });
    assert.deepEqual(await killedBy(`${greedy}; ${greedy}; exit 2`), { code: 2, killedForMemory: 2 });
    assert.deepEqual(await killedBy('true'), { code: 0, killedForMemory: undefined });
  });

  check('channel: processes that could not be started are told, whatever program hid it', async (fixture) => {
    const { create, lacking, sh } = fixture;
    if (lacking.includes('processes') || lacking.includes('refused-processes')) return;
    const runtime = await create({ limits: { processes: 64 } });
    const { stdout } = await sh(runtime, 'cat /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events');
    assert.match(stdout, /^max \d+$/m, 'programs inside cannot look up their control group of processes');
    await using channel = new ExecChannel(runtime);
    const refusedBy = async (script: string) => {
      const { exit, refusedProcesses = 0 } = await channel.run({ argv: ['sh', '-c', script] });
      return { code: exit.code, isRefused: refusedProcesses > 0 };
    };
    // Each waits for the one that it started, until one cannot be.
    const many = 'echo \'sh "$0" & wait\' >/tmp/many; sh /tmp/many 2>/dev/null';
    assert.deepEqual(await refusedBy('true'), { code: 0, isRefused: false });
    assert.deepEqual(await refusedBy(`${many}; exit 0`), { code: 0, isRefused: true });
    assert.deepEqual(await refusedBy('true'), { code: 0, isRefused: false });
  });

  over(
    'channel: outputs apart, exit code, signal, directory, environment, stdin',
    async (channel, run, { runtime }) => {
      assert.deepEqual(await run('echo out; echo err >&2; exit 3'), {
        code: 3,
        stdout: 'out\n',
        stderr: 'err\n',
        interruption: undefined,
      });
      assert.equal((await run('kill -TERM $$')).code, 143);
      assert.equal((await run('pwd; cat a', { cwd: `${runtime.workdir}/dir` })).stdout, `${runtime.workdir}/dir\na\n`);
      assert.equal(
        (await run('printf "%s" "$KIT"', { env: { KIT: "it's\n$(id) \\ \u00e9 \udcff" } })).stdout,
        "it's\n$(id) \\ \u00e9 \udcff",
      );
      const bytes = joined([
        Uint8Array.from({ length: 256 }, (_, index) => index),
        new TextEncoder().encode('%s\\n\'"'),
      ]);
      const { stdout } = await channel.run({ argv: ['cat'], stdin: bytes });
      assert.deepEqual(stdout.bytes, bytes);
      assert.equal((await run('cat')).stdout, '');
      await assert.rejects(run(':', { cwd: '/no/such/place' }), (error) => isLitterboxError(error, 'NOT_FOUND'));
      assert.equal((await channel.run({ argv: ['no-such-program-of-the-kit'] })).exit.code, 127);
      await assert.rejects(channel.run({ argv: ['echo', 'a\0b'] }), (error) => isLitterboxError(error, 'COMMAND_NUL'));
      await assert.rejects(channel.run({ argv: ['echo', 'x'.repeat(200_000)] }), (error) =>
        isLitterboxError(error, 'COMMAND_TOO_LONG'),
      );
    },
  );

  over('channel: a text is run by bash where the sandbox has one, by sh where it has none', async (channel, run) => {
    const hasBash = (await run('command -v bash')).stdout !== '';
    const text = async (command: string, changes: object = {}) => {
      const { exit, stdout } = await channel.run({ ...whatToRun(command), ...changes });
      return { code: exit.code, stdout: decodeRaw(stdout.bytes) };
    };
    assert.equal(channel.shell, hasBash ? 'bash' : 'sh');
    // A shell without braces does not fail: it says something else.
    assert.deepEqual(await text('echo {a,b} "$#"; exit 3'), { code: 3, stdout: hasBash ? 'a b 0\n' : '{a,b} 0\n' });
    // Neither what a shell reads at home, nor a failure within a pipeline, nor what the channel's own shell has.
    await run('echo "echo from a file" >"$HOME/.bashrc"; cp "$HOME/.bashrc" "$HOME/.bash_profile"');
    assert.deepEqual(
      await text('false | cat; echo $? "${lb_nonce-none}"; cat', { stdin: new TextEncoder().encode('in') }),
      {
        code: 0,
        stdout: '0 none\nin',
      },
    );
    await run('rm "$HOME/.bashrc" "$HOME/.bash_profile"');
    assert.equal((await text('kill -TERM $$')).code, 143);
  });

  over('channel: a command cannot change what the next one finds', async (_channel, run) => {
    await run('cd /; export LEAK=1; umask 077; exec 8>&- 9>&-; set -e; trap "" TERM');
    const { stdout } = await run('pwd; echo "[$LEAK]"; umask');
    assert.match(stdout, /^\/src\n\[\]\n0?022\n$/);
  });

  over('channel: bytes of any kind, what looks like a marker too, are output', async (channel, run) => {
    const { stdout } = await channel.run({
      argv: [
        'sh',
        '-c',
        'printf "\\036"; printf "\\036aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0 0\\n"; printf "\\000\\377end"',
      ],
    });
    assert.equal(decodeRaw(stdout.bytes), '\u001e\u001eaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0 0\n\0\udcffend');
    assert.equal((await run('printf "no newline"')).stdout, 'no newline');
  });

  over('channel: thirty commands at once, and sixty in a row', async (_channel, run) => {
    const results = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => await run(`echo ${index}; exit ${index}`)),
    );
    results.forEach(({ stdout, code }, index) => assert.deepEqual([stdout, code], [`${index}\n`, index]));
    for (let index = 0; index < 60; index += 1) assert.equal((await run(`echo ${index}`)).stdout, `${index}\n`);
  });

  over('channel: output is live', async (channel) => {
    const seen: OutputChunk[] = [];
    let heard = () => {};
    const first = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const controller = new AbortController();
    const running = channel.run(
      { argv: ['sh', '-c', 'echo live; sleep 1000'], onOutput: (chunk) => (seen.push(chunk), heard()) },
      { signal: controller.signal },
    );
    await first;
    controller.abort();
    const { interruption, stdout } = await running;
    assert.equal(interruption, 'abort');
    assert.equal(decodeRaw(stdout.bytes), 'live\n');
  });

  over('channel: a timeout ends the whole tree, and what was printed is kept', async (_channel, run, { runtime }) => {
    const script =
      'echo before; (sleep 2222 & sleep 2223) & if command -v setsid >/dev/null; then setsid sleep 2224 & fi; (env -i sleep 2225 &); trap "" TERM HUP INT; sleep 2226; echo after';
    const ran = await run(script, { timeoutMs: 500 });
    assert.deepEqual([ran.interruption, ran.stdout, ran.code], ['timeout', 'before\n', 137]);
    const left = async () =>
      (
        await collected(
          await runtime.spawn({ argv: ['sh', '-c', 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "'] }),
        )
      ).stdout;
    await eventually(left, (text) => !text.includes('sleep 222'));
  });

  over(
    'channel: a timeout of one command leaves the others and their children alone',
    async (_channel, run) => {
      await run('sleep 3333 >/dev/null 2>&1 & echo $! >pid');
      const [slow, quick] = await Promise.all([run('sleep 1000', { timeoutMs: 300 }), run('sleep 0.5; echo fine')]);
      assert.equal(slow.interruption, 'timeout');
      assert.equal(quick.stdout, 'fine\n');
      assert.equal((await run('kill -0 "$(cat pid)" && echo alive')).stdout, 'alive\n');
    },
    'own',
  );

  over(
    'channel: what a command leaves in the background does not write into the next one',
    async (_channel, run) => {
      assert.equal(
        (await run('(while :; do echo noise; echo noise >&2; sleep 0.01; done) & echo started')).stdout.replaceAll(
          'noise\n',
          '',
        ),
        'started\n',
      );
      for (let index = 0; index < 30; index += 1)
        assert.deepEqual(await run(`echo ${index}`), {
          code: 0,
          stdout: `${index}\n`,
          stderr: '',
          interruption: undefined,
        });
    },
    'own',
  );

  over(
    'channel: it goes on after an agent killed its shells',
    async (_channel, run) => {
      const killed = await run('echo said; kill -9 $PPID; sleep 0.3');
      assert.equal(killed.interruption, 'channel-lost');
      assert.equal(killed.stdout, 'said\n');
      assert.equal((await run('echo on')).stdout, 'on\n');
      await run('kill -9 -1');
      assert.equal((await run('echo again')).stdout, 'again\n');
    },
    'own',
  );

  check('channel: what a program that is killed had begun ends, by its shells and by its mark', async (fixture) => {
    const runtime = await fixture.shared();
    // Of a program that is killed nothing is left but the end of what it wrote.
    const guard = new CallGuard(async (spec, options) => endingAfterWrites(await runtime.spawn(spec, options), 2));
    await using channel = new ExecChannel(runtime, guard);
    const mark = crypto.randomUUID();
    const env = { ...runtime.environment, [CALL_VARIABLE]: mark };
    await using marked = await runtime.spawn({ argv: ['sh', '-c', 'sleep 1000 & exec sleep 1000'], env });
    guard.watch('none', mark);
    await using other = await runtime.spawn({ argv: ['sleep', '1000'] });
    const command = ['sh', '-c', 'sleep 1000 & exec sleep 1000'] as const;
    const { exit, interruption } = await channel.run({ argv: command, timeoutMs: 20_000 });
    assert.deepEqual({ code: exit.code, interruption }, { code: 137, interruption: undefined });
    const code = await Promise.race([marked.exit.then(({ code }) => code), delay(20_000, 'works on', { ref: false })]);
    assert.equal(code, 137);
    // By no shell of the channel: the guard still looks there for what the call started.
    const list = 'for d in /proc/[0-9]*; do tr "\\0" " " <$d/cmdline; echo; done 2>/dev/null';
    const { stdout } = await fixture.sh(runtime, list);
    assert.deepEqual(stdout.match(/^sleep 1000 ?$/gm)?.length, 1, 'of nobody else');
    await other.kill('SIGKILL');
  });

  over(
    'channel: too much output is cut in the middle, head and tail are kept, and memory is bounded',
    async (channel) => {
      const before = process.memoryUsage().rss;
      const { stdout, exit } = await channel.run({
        argv: ['sh', '-c', 'echo first; head -c 320000000 /dev/zero; echo last'],
        maxOutputBytes: 10_000,
      });
      assert.equal(exit.code, 0);
      assert.equal(stdout.bytes.length + stdout.droppedBytes, 320_000_011);
      assert.ok(stdout.bytes.length <= 10_000);
      assert.ok(decodeRaw(stdout.bytes).startsWith('first\n') && decodeRaw(stdout.bytes).endsWith('last\n'));
      // Buffers that nobody holds any more are collected late: over TLS 170 MiB of them were seen.
      assert.ok(process.memoryUsage().rss - before < 256 * 2 ** 20);
    },
  );

  over(
    'channel: an abort before the start runs nothing; after close() every call is DISPOSED',
    async (channel, run) => {
      const reason = new Error('enough');
      await assert.rejects(run('echo x >ran', {}, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
      assert.notEqual((await run('cat ran')).code, 0);
      await channel[Symbol.asyncDispose]();
      await assert.rejects(run('true'), (error) => isLitterboxError(error, 'DISPOSED'));
    },
  );

  over(
    'channel: a command that closes or fills its outputs, or exits at once, is no trouble',
    async (_channel, run) => {
      assert.equal((await run('exec >&- 2>&-; exit 4')).code, 4);
      assert.equal((await run('exec 0<&-; exit 5')).code, 5);
      assert.equal((await run('exit 6')).code, 6);
      assert.equal((await run('yes | head -n 200000 | wc -l')).stdout.trim(), '200000');
    },
  );
}

/** The same process, whose input ends after so many writes. */
function endingAfterWrites(process: ProcessHandle, writes: number): ProcessHandle {
  let left = writes;
  return {
    exit: process.exit,
    kill: (signal) => process.kill(signal),
    closeStdin: () => process.closeStdin(),
    async write(bytes) {
      await process.write(bytes);
      left -= 1;
      if (left === 0) await process.closeStdin();
    },
    [Symbol.asyncIterator]: () => process[Symbol.asyncIterator](),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}
