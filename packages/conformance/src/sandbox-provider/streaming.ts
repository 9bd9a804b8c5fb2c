import assert from 'node:assert/strict';
import { decodeRaw, type SandboxRuntime } from '@litterbox/core/provider';
import { collected } from '../collected.ts';
import { eventually } from '../eventually.ts';
import type { Check } from './suite.ts';

async function said(runtime: SandboxRuntime, script: string): Promise<string> {
  return (await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).stdout;
}

/** Output, input, signals and arguments beyond the ordinary. */
export function streaming(check: Check): void {
  check('a program that nobody listens to is held back, and disposing it does not lose its exit', async (fixture) => {
    const runtime = await fixture.shared();
    const process = await runtime.spawn({
      argv: ['sh', '-c', 'i=0; while :; do head -c 1048576 /dev/zero; i=$((i+1)); echo $i >written; done'],
    });
    // What is written stops growing. Who keeps all that comes in memory gets a mebibyte more with every look.
    let last = -1;
    const mebibytes = await eventually(
      async () => {
        const before = last;
        last = Number(await said(runtime, 'sleep 0.2; cat written 2>/dev/null || echo 0'));
        return { before, now: last };
      },
      ({ before, now }) => before === now,
      8_000,
    );
    assert.ok(mebibytes.now <= 64, `${mebibytes.now} MiB were taken although nobody reads`);
    await process[Symbol.asyncDispose]();
    assert.notEqual((await process.exit).code, 0);
  });

  check('write() waits while the program does not read, and ends when it does', async (fixture) => {
    const runtime = await fixture.shared();
    await using process = await runtime.spawn({
      argv: ['sh', '-c', 'while [ ! -e go ]; do sleep 0.02; done; wc -c'],
      stdin: 'pipe',
    });
    const order: string[] = [];
    const bytes = 16 * 2 ** 20;
    const writing = process.write(new Uint8Array(bytes)).then(() => order.push('written'));
    await said(runtime, 'sleep 0.2');
    order.push('told to go');
    await said(runtime, 'touch go');
    await writing;
    await process.closeStdin();
    assert.deepEqual(order, ['told to go', 'written']);
    assert.equal((await collected(process)).stdout.trim(), String(bytes));
  });

  check('a write() that waits ends when the program is killed', async (fixture) => {
    const process = await (await fixture.shared()).spawn({ argv: ['sleep', '1000'], stdin: 'pipe' });
    const writing = process.write(new Uint8Array(16 * 2 ** 20)).then(
      () => 'ended',
      () => 'ended',
    );
    await process.kill('SIGKILL');
    assert.equal((await process.exit).code, 137);
    await process[Symbol.asyncDispose]();
    assert.equal(await writing, 'ended');
  });

  check('twenty thousand lines on each output arrive in order, to the last', async ({ shared, sh }) => {
    const { stdout, stderr, exit } = await sh(
      await shared(),
      'i=0; while [ $i -lt 20000 ]; do echo "line $i"; echo "error $i" >&2; i=$((i+1)); done; printf end; printf end >&2',
    );
    const wanted = (word: string) =>
      `${Array.from({ length: 20_000 }, (_, index) => `${word} ${index}\n`).join('')}end`;
    assert.equal(exit.code, 0);
    assert.ok(stdout === wanted('line'), `stdout has ${stdout.length} characters`);
    assert.ok(stderr === wanted('error'), `stderr has ${stderr.length} characters`);
  });

  check('exit codes are told as they are, up to 255', async ({ shared }) => {
    const runtime = await shared();
    for (const code of [1, 2, 125, 126, 127, 128, 200, 255]) {
      await using process = await runtime.spawn({ argv: ['sh', '-c', `exit ${code}`] });
      assert.equal((await process.exit).code, code);
    }
  });

  check('every signal of the port arrives, stopping and going on included', async ({ shared }) => {
    const runtime = await shared();
    // `wait` on a job ends for a signal; a shell in `sleep` would trap late.
    await using process = await runtime.spawn({
      argv: [
        'sh',
        '-c',
        'for s in HUP INT QUIT TERM USR1 USR2 WINCH; do trap "echo $s" $s; done; sleep 1000 & echo $$; while :; do wait; done',
      ],
    });
    const chunks = process[Symbol.asyncIterator]();
    let heard = '';
    const until = async (pattern: RegExp) => {
      while (!pattern.test(heard)) {
        const next = await chunks.next();
        if (next.done) throw new Error(`the program ended after ${JSON.stringify(heard)}`);
        if (next.value.type === 'stdout-data') heard += decodeRaw(next.value.bytes);
      }
    };
    await until(/^\d+\n/);
    const pid = Number.parseInt(heard, 10);
    const state = async () => /\) (\S)/.exec(await said(runtime, `cat /proc/${pid}/stat`))?.[1];
    for (const name of ['HUP', 'USR1', 'USR2', 'WINCH', 'TERM', 'INT', 'QUIT'] as const) {
      await process.kill(`SIG${name}`);
      await until(new RegExp(`^${name}$`, 'm'));
    }
    await process.kill('SIGSTOP');
    await eventually(state, (letter) => letter === 'T');
    await process.kill('SIGCONT');
    await eventually(state, (letter) => letter !== 'T');
    await process.kill('SIGKILL');
    assert.deepEqual(await process.exit, { code: 137, signal: 'SIGKILL' });
  });

  check('a program is looked up in the PATH of its own environment', async ({ shared }) => {
    const runtime = await shared();
    const { stdout } = await collected(
      await runtime.spawn({
        argv: ['tool'],
        env: { PATH: `${runtime.workdir}/bin:${runtime.environment['PATH'] ?? ''}` },
      }),
    );
    assert.equal(stdout, 'tool\n');
  });

  check('programs that were installed into the home are found, behind those of the system', async ({ create, sh }) => {
    const runtime = await create();
    const directories = ['.local/bin', '.cargo/bin', 'go/bin', '.npm-global/bin'];
    const install = `cd && for d in ${directories.join(' ')}; do mkdir -p $d && for n in cat "tool-\${d%%/*}"; do printf '#!/bin/sh\\necho "$0"\\n' >$d/$n && chmod +x $d/$n; done; done`;
    const { exit, stderr } = await sh(runtime, install);
    assert.equal(exit.code, 0, stderr);
    for (const directory of directories) {
      const name = `tool-${directory.slice(0, directory.indexOf('/'))}`;
      const { stdout } = await collected(await runtime.spawn({ argv: [name] }));
      assert.equal(stdout, `/home/agent/${directory}/${name}\n`);
    }
    assert.equal((await sh(runtime, 'echo from the system | cat')).stdout, 'from the system\n');
  });

  check('a long argument, a thousand of them, and values of any bytes arrive verbatim', async ({ shared }) => {
    const runtime = await shared();
    const long = 'x'.repeat(100_000);
    const many = Array.from({ length: 1000 }, (_, index) => String(index));
    const { stdout } = await collected(
      await runtime.spawn({
        argv: ['sh', '-c', 'printf "%s %s %s %s" "${#1}" "$#" "${1001}" "$ODD"', 'sh', long, ...many],
        env: { ...runtime.environment, ODD: '\n\udcff=$(id)\'"' },
      }),
    );
    assert.equal(stdout, `100000 1001 999 \n\udcff=$(id)'"`);
  });

  check('disposing ends what is stopped, deaf to signals, or left by its parent', async ({ shared }) => {
    const runtime = await shared();
    const process = await runtime.spawn({
      argv: [
        'sh',
        '-c',
        'trap "" TERM INT HUP; (sleep 5551 & kill -STOP $!) ; (sh -c "trap : TERM INT HUP; while :; do sleep 5552; done" & ) ; echo ready; while :; do sleep 5553; done',
      ],
    });
    for await (const _chunk of process) break;
    const running = async () =>
      (await said(runtime, 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "; :')).match(/sleep 555\d/g) ?? [];
    await eventually(running, (found) => new Set(found).size === 3);
    await process[Symbol.asyncDispose]();
    await eventually(running, (found) => found.length === 0);
  });
}
