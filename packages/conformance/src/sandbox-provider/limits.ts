import assert from 'node:assert/strict';
import { isLitterboxError, type SandboxRuntime } from '@litterbox/core/provider';
import { collected } from '../collected.ts';
import { eventually } from '../eventually.ts';
import type { Check } from './suite.ts';

/** Ceilings, shown by running into them. */
export function limits(check: Check): void {
  check(
    'the limit of processes holds, the sandbox recovers, and its neighbour does not notice',
    async ({ create, shared, sh, provider, lacking }) => {
      assert.ok(
        provider.traits.limits.includes('processes'),
        'a provider without a limit of processes is not safe to use',
      );
      if (lacking.includes('processes')) return; // that it is told as missing, and refused, is tested with all controls
      const [bomb, neighbour] = [await create({ limits: { processes: 64 } }), await shared()];
      const many = await bomb.spawn({
        argv: [
          'sh',
          '-c',
          'i=0; while [ $i -lt 300 ]; do sleep 1000 >/dev/null 2>&1 & i=$((i+1)); done; echo all started',
        ],
      });
      const outcome = await collected(many);
      assert.ok(!outcome.stdout.includes('all started'), 'three hundred processes were started under a limit of 64');
      assert.equal((await sh(neighbour, 'echo fine')).stdout, 'fine\n');
      await bomb.stop();
      await bomb.start();
      assert.equal((await sh(bomb, 'echo again')).stdout, 'again\n');
    },
  );

  check('the limit of memory holds: who goes beyond it is killed, nobody else', async (fixture) => {
    const { create, shared, sh, provider, lacking } = fixture;
    assert.ok(
      provider.traits.limits.includes('memoryBytes'),
      'a provider without a limit of memory is not safe to use',
    );
    if (lacking.includes('memory')) return;
    const [greedy, neighbour] = [await create({ limits: { memoryBytes: 96 * 2 ** 20 } }), await shared()];
    // tail keeps a line without an end in memory; under the limit it dies long before the 1 GiB are there.
    const { exit } = await sh(
      greedy,
      'head -c 1073741824 /dev/zero | tail -n 1 | wc -c >count; [ "$(cat count)" != 1073741824 ]',
    );
    assert.equal(exit.code, 0, 'a gibibyte was held under a limit of 96 MiB');
    assert.equal((await sh(neighbour, 'echo fine')).stdout, 'fine\n');
  });

  check('the limit of processors holds', async ({ create, sh, provider, lacking }) => {
    if (!provider.traits.limits.includes('cpus') || lacking.includes('cpu')) return;
    const runtime = await create({ limits: { cpus: 0.25 } });
    // Two busy loops for two seconds of wall time: at most 0.25 of a processor, with room for what is counted in steps.
    const { stdout } = await sh(
      runtime,
      'sh -c "while :; do :; done" & a=$!; sh -c "while :; do :; done" & b=$!; sleep 2; read -r u1 </proc/$a/stat; read -r u2 </proc/$b/stat; kill -9 $a $b; echo "$u1"; echo "$u2"',
    );
    const ticks = stdout
      .trim()
      .split('\n')
      .map((line) => line.slice(line.lastIndexOf(')') + 2).split(' '))
      .reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0);
    assert.ok(ticks > 10 && ticks < 110, `${ticks} hundredths of a second of processor time in two seconds`);
  });

  check(
    'programs see as many processors as they may use at once, and sandboxes are spread over them',
    async (fixture) => {
      const { create, sh, host, provider } = fixture;
      if (!provider.traits.limits.includes('cpus')) return;
      const count = Number((await collected(await host.spawn({ argv: ['nproc'] }))).stdout);
      const numbersOf = async (runtime: SandboxRuntime) =>
        (await sh(runtime, 'nproc; sed -n "s/^Cpus_allowed_list:[^0-9]*//p" /proc/self/status')).stdout
          .trim()
          .split('\n');
      const [one, other] = [await create({ limits: { cpus: 1 } }), await create({ limits: { cpus: 0.25 } })];
      const [[seen, list], [seenByOther, otherList]] = [await numbersOf(one), await numbersOf(other)];
      assert.deepEqual([seen, seenByOther], ['1', '1']);
      assert.match(list ?? '', /^\d+$/);
      if (count > 1) assert.notEqual(list, otherList, 'two sandboxes are on one processor while another is free');
      const [more] = await numbersOf(await create({ limits: { cpus: 1.5 } }));
      assert.equal(more, `${Math.min(2, count)}`);
    },
  );

  check('temporary directories and shared memory hold half of the memory limit each, and no more', async (fixture) => {
    const { create, sh } = fixture;
    const runtime = await create({ limits: { memoryBytes: 256 * 2 ** 20 } });
    const { stdout: sizes } = await sh(runtime, 'df -kP /tmp /var/tmp /dev/shm | tail -n +2');
    assert.deepEqual(
      sizes
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/).filter((_field, index) => index === 1 || index === 5)),
      [
        ['131072', '/tmp'],
        ['131072', '/var/tmp'],
        ['131072', '/dev/shm'],
      ],
    );
    for (const directory of ['/tmp', '/var/tmp', '/dev/shm']) {
      const fill = `dd if=/dev/zero of=${directory}/fill bs=1048576 count=`;
      const fits = await sh(runtime, `${fill}100 && rm ${directory}/fill && echo small >${directory}/small`);
      assert.equal(fits.exit.code, 0, fits.stderr);
      const { exit, stderr } = await sh(runtime, `${fill}300`);
      assert.notEqual(exit.code, 0, `300 MiB were written into ${directory} under a limit of 256 MiB`);
      assert.match(stderr, /No space left on device/);
      await eventually(
        async () => (await sh(runtime, `rm -f ${directory}/fill; echo fine`)).stdout,
        (stdout) => stdout === 'fine\n',
      );
    }
  });

  check('the limit of open files holds, and what is limited cannot be raised from inside', async (fixture) => {
    const { create, sh, provider } = fixture;
    if (!provider.traits.limits.includes('openFiles')) return;
    const runtime = await create({ limits: { openFiles: 256 } });
    assert.equal((await sh(runtime, 'ulimit -n; ulimit -c')).stdout, '256\n0\n');
    const { stdout } = await sh(
      runtime,
      '(ulimit -n 200 && ulimit -n); (ulimit -Hn 4096 2>/dev/null && ulimit -n 4096); ulimit -n; for f in $(find /sys/fs/cgroup -name "memory.max" -o -name "memory.limit_in_bytes" -o -name "pids.max" 2>/dev/null); do ( : >>"$f" ) 2>/dev/null && echo "open $f"; done; :',
    );
    assert.equal(stdout, '200\n256\n', 'the first line is the positive control: lower is allowed');
  });

  check(
    'the limit of disk holds, where the traits name one: who fills it has no space, nobody else',
    async (fixture) => {
      const { create, shared, sh, provider, lacking } = fixture;
      if (!provider.traits.limits.includes('diskBytes')) return; // the refusal is tested among what cannot be limited
      if (lacking.includes('disk')) {
        const refused = create({ limits: { diskBytes: 32 * 2 ** 20 } });
        return await assert.rejects(refused, (error) => isLitterboxError(error, 'UNSUPPORTED'));
      }
      const [full, neighbour] = [await create({ limits: { diskBytes: 32 * 2 ** 20 } }), await shared()];
      await sh(full, 'echo before >before');
      // Each place where it may leave something that lasts: together they hold no more than the limit.
      for (const place of ['.', '"$HOME"', '"$LITTERBOX_PLAYGROUND"']) {
        const { exit, stderr } = await sh(full, `dd if=/dev/zero of=${place}/fill bs=65536 count=1024`);
        assert.notEqual(exit.code, 0, `64 MiB were written into ${place} under a limit of 32 MiB`);
        assert.match(stderr, /No space left on device|Disk quota exceeded/);
      }
      const { stdout } = await sh(full, 'cat ./fill "$HOME/fill" "$LITTERBOX_PLAYGROUND/fill" | wc -c');
      assert.ok(Number(stdout) > 2 ** 20 && Number(stdout) <= 32 * 2 ** 20, `${stdout.trim()} bytes were held`);
      assert.equal((await sh(neighbour, 'head -c 1048576 /dev/zero >some && wc -c <some')).stdout.trim(), '1048576');
      const changed: string[] = [];
      for await (const { path } of (await full.scan(undefined)).changes) if (path !== '') changed.push(path);
      assert.deepEqual(changed.sort(), ['before', 'fill'], 'what a full sandbox holds can be recorded');
      assert.equal((await sh(full, 'tar -cf - before | tar -xOf -')).stdout, 'before\n');
      await full.stop();
      await full.start();
      const again = await sh(full, 'rm -f ./fill && echo again >file && cat before file');
      assert.equal(again.stdout, 'before\nagain\n', again.stderr);
      await full[Symbol.asyncDispose]();
      await provider.remove(full.id);
      assert.equal((await sh(neighbour, 'wc -c <some')).stdout.trim(), '1048576');
    },
  );

  check(
    'the limit of disk bounds the number of files too, and a sandbox full of them can be emptied',
    async (fixture) => {
      const { create, sh, provider, lacking } = fixture;
      if (!provider.traits.limits.includes('diskBytes') || lacking.includes('disk')) return;
      const full = await create({ limits: { diskBytes: 16 * 2 ** 20 } });
      const { exit } = await sh(
        full,
        'mkdir many && cd many && i=0; while [ $i -lt 20000 ]; do : >$i || exit 9; i=$((i+1)); done',
      );
      if (lacking.includes('disk-files')) assert.equal(exit.code, 0, 'their number is bounded after all');
      else assert.notEqual(exit.code, 0, 'twenty thousand files were made under a limit of 16 MiB');
      await full.stop();
      await full.start();
      // The kernel gives back what was deleted in its own time, which on a busy machine may be a moment later.
      const { stdout, stderr } = await sh(
        full,
        'rm -r many && n=0 && until echo again >file; do n=$((n+1)); [ $n -lt 100 ] || exit 9; sleep 0.1; done && cat file',
      );
      assert.equal(stdout, 'again\n', stderr);
    },
  );

  check('the limit of disk speed holds, where the traits name one', async (fixture) => {
    const { create, sh, provider, lacking } = fixture;
    if (!provider.traits.limits.includes('diskBytesPerSecond')) return;
    if (lacking.includes('disk-speed')) {
      const created = create({ limits: { diskBytesPerSecond: 2 ** 20 } });
      return await assert.rejects(created, (error) => isLitterboxError(error, 'UNSUPPORTED'));
    }
    const timeOf = async (runtime: SandboxRuntime, way: string) => {
      const started = performance.now();
      const { exit, stderr } = await sh(runtime, `dd if=/dev/zero of=fill bs=65536 count=128 ${way}`);
      assert.equal(exit.code, 0, stderr);
      return performance.now() - started;
    };
    // Written back from memory, and past it.
    const ways = ['conv=fsync', 'oflag=direct'];
    const free = await create();
    let without = 0;
    for (const way of ways) without = Math.max(without, await timeOf(free, way));
    // Positive control: the limit is chosen so that it takes four times as long as without one, four seconds at least.
    const wantedMs = 4 * Math.max(1000, without);
    const slow = await create({ limits: { diskBytesPerSecond: Math.floor((8 * 2 ** 20 * 1000) / wantedMs) } });
    for (const way of ways) {
      const within = await timeOf(slow, way);
      const times = `${Math.round(within)} ms, ${Math.round(without)} without a limit`;
      assert.ok(within > wantedMs / 2, `8 MiB took ${times}; at the limit they take ${Math.round(wantedMs)} (${way})`);
    }
  });
}
