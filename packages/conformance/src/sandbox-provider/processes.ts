import assert from 'node:assert/strict';
import { decodeRaw, isLitterboxError, type SandboxRuntime } from '@litterbox/core/provider';
import { assertSameBytes, collected, joined } from '../collected.ts';
import { eventually } from '../eventually.ts';
import type { Check } from './suite.ts';

/** Every byte value, many times, so that it does not fit into a pipe. */
const EVERY_BYTE = joined(Array.from({ length: 1024 }, () => Uint8Array.from({ length: 256 }, (_, index) => index)));

/** Says who runs this, by what the image has for it, then the addresses that /etc/hosts has for localhost. */
const NAMES = `if command -v id >/dev/null; then id -un || exit 1
elif command -v whoami >/dev/null; then whoami || exit 1
else
while read -r key uid rest; do [ "$key" != Uid: ] || break; done </proc/self/status
while IFS=: read -r name password number rest; do [ "$number" != "$uid" ] || echo "$name"; done </etc/passwd
fi
while read -r address names; do for name in $names; do [ "$name" != localhost ] || echo "$address"; done; done </etc/hosts`;

async function isRunning(runtime: SandboxRuntime, mark: string): Promise<boolean> {
  // The pattern does not match itself; /proc is all a minimal image has.
  const script = `for f in /proc/[0-9]*/cmdline; do if tr '\\0' ' ' <$f 2>/dev/null | grep -q '[${mark[0]}]${mark.slice(1)}'; then echo yes; fi; done`;
  return (await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).stdout !== '';
}

/** What `spawn` promises. */
export function processes(check: Check): void {
  check('a signal reaches what a program has started, where the sandbox has setsid', async ({ shared, sh }) => {
    const runtime = await shared();
    const { exitCode } = await sh(runtime, 'command -v setsid').then(({ exit }) => ({ exitCode: exit.code }));
    if (exitCode !== 0) return;
    await using parent = await runtime.spawn({
      argv: [
        'sh',
        '-c',
        // It starts nothing once it has its trap: a copy of the shell that is not another program yet would run that too.
        "trap 'wait; exit 7' TERM; sh -c 'sleep 1000 & trap \"echo told; exit\" TERM; echo up; wait' & wait; wait",
      ],
    });
    let said = '';
    for await (const { type, bytes } of parent) {
      if (type === 'stderr-data') continue; // a shell may say what ended there
      const text = new TextDecoder().decode(bytes);
      said += text;
      if (text.includes('up')) await parent.kill('SIGTERM');
    }
    assert.equal(said, 'up\ntold\n');
  });

  check('stdout, stderr and the exit code are apart', async ({ shared, sh }) => {
    const { stdout, stderr, exit } = await sh(await shared(), 'echo out; echo err >&2; exit 3');
    assert.deepEqual({ stdout, stderr, exit }, { stdout: 'out\n', stderr: 'err\n', exit: { code: 3 } });
  });

  check('who runs has a name, and localhost is known', async ({ shared, sh }) => {
    const { stdout, exit } = await sh(await shared(), NAMES);
    assert.deepEqual(exit, { code: 0 });
    assert.match(stdout, /^[a-z_][\w.-]*\n/, 'the name');
    assert.match(stdout, /\n127\.0\.0\.1\n/, 'the address of localhost');
  });

  check('arguments arrive verbatim, without a shell', async ({ shared }) => {
    const texts = ['$(id)', '"quoted"', "it's", '*', ' ', '', 'new\nline', '-n', '\\', 'é', '\udcff'];
    const { stdout } = await collected(await (await shared()).spawn({ argv: ['printf', '[%s]', ...texts] }));
    assert.equal(stdout, texts.map((text) => `[${text}]`).join(''));
  });

  check('bytes of any value pass through stdin and stdout, more than a pipe holds', async ({ shared }) => {
    await using process = await (await shared()).spawn({ argv: ['cat'], stdin: 'pipe' });
    const reading = (async () => {
      const parts: Uint8Array[] = [];
      for await (const { bytes } of process) parts.push(bytes);
      return joined(parts);
    })();
    await process.write(EVERY_BYTE);
    await process.closeStdin();
    assertSameBytes(await reading, EVERY_BYTE);
    assert.deepEqual(await process.exit, { code: 0 });
  });

  check('a mebibyte on both outputs does not dead-lock', async ({ shared, sh }) => {
    const { stdout, stderr } = await sh(
      await shared(),
      'head -c 1048576 /dev/zero >&2; head -c 1048576 /dev/zero; head -c 1048576 /dev/zero >&2',
    );
    assert.equal(stdout.length, 2 ** 20);
    assert.equal(stderr.length, 2 ** 21);
  });

  check('without stdin a program reads end of file at once, and write() is refused', async ({ shared }) => {
    const runtime = await shared();
    assert.equal((await collected(await runtime.spawn({ argv: ['cat'] }))).stdout, '');
    await using process = await runtime.spawn({ argv: ['sleep', '1000'] });
    await assert.rejects(
      async () => process.write(Uint8Array.of(1)),
      (error) => isLitterboxError(error, 'INVALID_ARGUMENT'),
    );
  });

  check('writing to a program that does not read is no error', async ({ shared }) => {
    await using process = await (await shared()).spawn({ argv: ['true'], stdin: 'pipe' });
    await process.exit;
    await process.write(EVERY_BYTE);
    await process.closeStdin();
    await process.closeStdin();
  });

  check('output is live', async ({ shared }) => {
    await using process = await (await shared()).spawn({
      argv: ['sh', '-c', 'echo first; read line; echo "$line"'],
      stdin: 'pipe',
    });
    const chunks = process[Symbol.asyncIterator]();
    const first = await chunks.next();
    assert.equal(first.done ? '' : decodeRaw(first.value.bytes), 'first\n');
    await process.write(new TextEncoder().encode('second\n'));
    const second = await chunks.next();
    assert.equal(second.done ? '' : decodeRaw(second.value.bytes), 'second\n');
  });

  check('exit does not wait for what the program left in the background', async ({ shared }) => {
    await using process = await (await shared()).spawn({ argv: ['sh', '-c', 'sleep 1000 & echo done'] });
    assert.deepEqual(await process.exit, { code: 0 });
    const first = await process[Symbol.asyncIterator]().next();
    assert.equal(first.done ? '' : decodeRaw(first.value.bytes), 'done\n');
  });

  check('exit is known although nobody reads the output', async ({ shared }) => {
    await using process = await (await shared()).spawn({ argv: ['sh', '-c', 'echo unread; exit 5'] });
    assert.deepEqual(await process.exit, { code: 5 });
  });

  check('leaving the output early and disposing ends the program', async ({ shared }) => {
    const runtime = await shared();
    {
      await using process = await runtime.spawn({ argv: ['sh', '-c', 'while :; do echo kit-endless; done'] });
      for await (const _chunk of process) break;
    }
    assert.equal(await isRunning(runtime, 'kit-endless'), false);
  });

  check(
    'a working directory is taken, relative names start there, and a missing one is NOT_FOUND',
    async ({ shared, sh }) => {
      const runtime = await shared();
      assert.equal(
        (await sh(runtime, 'pwd; cat a', { cwd: `${runtime.workdir}/dir` })).stdout,
        `${runtime.workdir}/dir\na\n`,
      );
      await assert.rejects(sh(runtime, ':', { cwd: '/no/such/place' }), (error) =>
        isLitterboxError(error, 'NOT_FOUND'),
      );
    },
  );

  check('a program that does not exist is NOT_FOUND', async ({ shared }) => {
    const runtime = await shared();
    await assert.rejects(runtime.spawn({ argv: ['no-such-program-of-the-kit'] }), (error) =>
      isLitterboxError(error, 'NOT_FOUND'),
    );
  });

  check('the environment is what was given, and nothing else but what shells add', async ({ shared, sh }) => {
    const runtime = await shared();
    const { stdout } = await sh(runtime, 'env', { env: { PATH: runtime.environment['PATH'] ?? '', ONLY: 'this' } });
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.slice(0, line.indexOf('=')));
    assert.deepEqual(names.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD', 'LITTERBOX_CALL'].includes(name)).sort(), [
      'ONLY',
      'PATH',
    ]);
  });

  check('signals end a program and are told in the exit code', async ({ shared }) => {
    const runtime = await shared();
    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGKILL', 137],
      ['SIGINT', 130],
    ] as const) {
      await using process = await runtime.spawn({ argv: ['sleep', '1000'] });
      await process.kill(signal);
      assert.deepEqual(await process.exit, { code, signal });
      await process.kill(signal); // after its end: nothing happens
    }
  });

  check('a program can catch a signal', async ({ shared }) => {
    await using process = await (await shared()).spawn({
      argv: ['sh', '-c', 'trap "echo caught; exit 4" TERM; echo ready; while :; do sleep 0.1; done'],
    });
    let said = '';
    for await (const { type, bytes } of process) {
      if (type === 'stderr-data') continue; // a shell may say there that its child was ended too
      said += decodeRaw(bytes);
      if (said === 'ready\n') await process.kill('SIGTERM');
    }
    assert.equal(said, 'ready\ncaught\n');
    assert.deepEqual(await process.exit, { code: 4 });
  });

  check('disposing ends children, grandchildren and those that left the session', async ({ shared }) => {
    const runtime = await shared();
    {
      await using process = await runtime.spawn({
        argv: [
          'sh',
          '-c',
          '(sleep 1111 & sleep 1112) & if command -v setsid >/dev/null; then setsid sleep 1113 & fi; echo ready; wait',
        ],
      });
      for await (const _chunk of process) break;
    }
    await eventually(
      async () => await isRunning(runtime, 'sleep 111'),
      (running) => !running,
    );
  });

  check('aborting ends a program, and a signal that was aborted before starts nothing', async ({ shared }) => {
    const runtime = await shared();
    const reason = new Error('enough');
    await assert.rejects(
      runtime.spawn({ argv: ['true'] }, { signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    );
  });

  check('twenty programs at once keep their outputs apart', async ({ shared, sh }) => {
    const runtime = await shared();
    const results = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, index) => await sh(runtime, `echo ${index}; echo e${index} >&2; exit ${index}`),
      ),
    );
    results.forEach(({ stdout, stderr, exit }, index) =>
      assert.deepEqual(
        { stdout, stderr, code: exit.code },
        { stdout: `${index}\n`, stderr: `e${index}\n`, code: index },
      ),
    );
  });

  check('a terminal is a real one with the size asked for, or UNSUPPORTED says why not', async ({ shared }) => {
    const runtime = await shared();
    const script =
      'test -t 0 && test -t 1 && test -t 2 && stty size; trap "stty size; exit 9" WINCH; echo ready; while :; do sleep 0.1; done';
    const started = await runtime
      .spawn({ argv: ['sh', '-c', script], terminal: { columns: 101, rows: 37 } })
      .catch((error: unknown) => {
        assert.ok(isLitterboxError(error, 'UNSUPPORTED'), String(error));
        assert.ok(error.details.hint);
      });
    if (!started) return;
    await using process = started;
    assert.ok(process.resize, 'a process with a terminal can be resized');
    let text = '';
    const chunks = process[Symbol.asyncIterator]();
    const until = async (wanted: string) => {
      while (!text.includes(wanted)) {
        const next = await chunks.next();
        if (next.done) throw new Error(`the terminal ended after ${JSON.stringify(text)}`);
        assert.equal(next.value.type, 'stdout-data');
        text += decodeRaw(next.value.bytes);
      }
    };
    await until('ready');
    assert.ok(text.startsWith('37 101'), JSON.stringify(text));
    await process.resize({ columns: 55, rows: 22 });
    await until('22 55');
    assert.deepEqual(await process.exit, { code: 9 });
  });

  check('Ctrl-C in a terminal interrupts what runs there', async ({ shared }) => {
    // `exec`: a dash that is just starting a program loses an interrupt.
    const started = await (await shared())
      .spawn({ argv: ['sh', '-c', 'echo ready; exec sleep 1000'], terminal: { columns: 80, rows: 24 } })
      .catch((error: unknown) => {
        assert.ok(isLitterboxError(error, 'UNSUPPORTED'), String(error));
      });
    if (!started) return;
    await using process = started;
    const chunks = process[Symbol.asyncIterator]();
    let text = '';
    while (!text.includes('ready')) {
      const next = await chunks.next();
      if (next.done) throw new Error('the terminal ended early');
      text += decodeRaw(next.value.bytes);
    }
    await process.write(Uint8Array.of(3));
    assert.equal((await process.exit).code, 130);
  });
}
