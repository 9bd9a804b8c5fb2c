// What a sandbox uses up, what it does to its own layers, and what of it outlives its owner.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { arch } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { SandboxId, slugify } from '@litterbox/core';
import { sqliteState } from '@litterbox/state-sqlite';
import { onTheHost, positiveControl, repositoryDigest } from '../../src/index.ts';
import { attack } from './attack.ts';
import { PROGRAM } from './command-line.ts';
import { processesWith } from './processes-with.ts';

const MIB = 2 ** 20;
/** Numbers of system calls are of one architecture. */
const attackOnX64: typeof attack = (...test) => void (arch() === 'x64' && attack(...test));

describe('resources and files', () => {
  attackOnX64(
    'A51: timers and queued signals of a sandbox are few, so that those of the person stay',
    async (fixture) => {
      const timers = 'my $n = 0; $n++ while $n < 5000 && syscall(222, 1, 0, my $id = "\\0" x 8) == 0; print $n';
      positiveControl('timers of a program', onTheHost(['perl', '-e', timers]).stdout, (count) => count === '5000');
      const sandbox = await fixture.open().create({ name: 'a' });
      const { stdout } = await fixture.run(sandbox, ['perl', '-e', timers]);
      expect({ isStdoutAbove: Number(stdout) > 100, isStdoutAtMost: Number(stdout) <= 1024 }).toEqual({
        isStdoutAbove: true,
        isStdoutAtMost: true,
      });
      const raised = await fixture.run(sandbox, 'prlimit --sigpending=2000:2000 true');
      expect(raised.exitCode).not.toBe(0);
    },
  );

  attack(
    'A51: bombs of processes, memory, files and descriptors go off inside, and the neighbour does not notice',
    async (fixture) => {
      const litterbox = fixture.open();
      const limits = { processes: 96, memoryBytes: 128 * MIB, cpus: 1, openFiles: 512 };
      const bomb = await litterbox.create({ name: 'bomb', ...limits });
      const neighbour = await litterbox.create({ name: 'neighbour' });
      const bombs: Readonly<Record<string, string>> = {
        processes: 'f() { f | f & }; f; wait',
        threads:
          "perl -e 'my $n = 0; while ($n < 5000) { my $p = fork; die qq(stopped at $n: $!) unless defined $p; if (!$p) { sleep 100; exit } $n++ } print qq(all\\n)'",
        memory: "perl -e 'push @a, q(x) x 1e6 while 1; print qq(all\\n)'",
        'shared memory': 'head -c 3000000000 /dev/zero >/dev/shm/fill && echo all; rm -f /dev/shm/fill',
        'temporary files': 'head -c 3000000000 /dev/zero >/tmp/fill && echo all; rm -f /tmp/fill',
        run: 'head -c 300000000 /dev/zero >/run/fill && echo all; rm -f /run/fill',
        descriptors:
          "perl -e 'open($f[$n++], q(<), q(/dev/null)) or die qq(stopped at $n: $!) while $n < 5000; print qq(all\\n)'",
        inodes:
          "perl -e 'for (1..3000000) { open(my $f, q(>), qq(/tmp/i$_)) or die qq(stopped at $_: $!) } print qq(all\\n)'; find /tmp -name 'i*' -delete",
      };
      const opening = onTheHost(['sh', '-c', `ulimit -n 6000; ${bombs['descriptors']}`]).stdout;
      positiveControl('opening files under a larger limit', opening, (text) => text === 'all\n');
      for (const [name, command] of Object.entries(bombs)) {
        // Temporary files are memory: when they fill it, the kernel may end the first process inside too, and the session with it.
        const { stdout } = await fixture
          .run(bomb, command, { timeoutMs: 4000 })
          .catch((error: { readonly code?: string }) => {
            expect({ name, code: error.code }).toEqual({ name, code: 'SNAPSHOT_FAILED' });
            return { stdout: '' };
          });
        expect({ name, stdoutIncludes: stdout.includes('all') }).toEqual({ name, stdoutIncludes: false });
        const started = performance.now();
        expect({ name, stdout: (await neighbour.run('echo fine')).stdout }).toEqual({ name, stdout: 'fine\n' });
        expect({ name, isElapsedBelow: performance.now() - started < 5000 }).toEqual({ name, isElapsedBelow: true });
        // What goes on in the background may keep the bomb's own sandbox busy; its owner can always stop it.
        await litterbox.setRunState('bomb', 'stopped');
        await litterbox.setRunState('bomb', 'ready');
        expect({ name, stdout: (await bomb.run('echo on')).stdout }).toEqual({ name, stdout: 'on\n' });
      }
    },
  );

  attack('A53: attributes, whiteouts and hard links of an agent do nothing to the layers below', async (fixture) => {
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    const neighbour = await litterbox.create({ name: 'b' });
    const bases = join(fixture.scratch.stateDirectory, 'overlayfs/bases');
    const before = repositoryDigest(bases);
    positiveControl('the base tree', Object.keys(before), (paths) => paths.some((path) => path.endsWith('/src/a.txt')));
    const attribute = (path: string, name: string, value: string) =>
      `perl -e 'print syscall(188, q(${path}), q(${name}), q(${value}), ${value.length}, 0) == 0 ? qq(ok ) : qq($! )';`;
    const attributes = [
      'user.overlay.opaque',
      'user.overlay.redirect',
      'user.overlay.metacopy',
      'user.overlay.whiteout',
      'trusted.overlay.opaque',
      'trusted.overlay.redirect',
      'security.capability',
    ].map((name) => attribute('src', name, 'y') + attribute('src/a.txt', name, '/etc/shadow'));
    const { stdout } = await fixture.run(
      sandbox,
      `${attributes.join('')} mknod src/null c 1 3; mknod src/white c 0 0; mknod /tmp/mem c 1 1 && cat /tmp/mem; ln src/a.txt hard; echo through >>hard; mkdir moved; mv src moved/src; mkdir src; echo new >src/b.txt; ln -s / root; ls -la src`,
    );
    fixture.hear('what was said', stdout);
    const listing = 'find . -not -path "./root/*" | sort; cat hard moved/src/* src/* 2>&1';
    const seen = (await fixture.run(sandbox, listing)).stdout;
    expect(seen).toContain('a\nthrough');
    await litterbox.setRunState('a', 'stopped');
    await litterbox.setRunState('a', 'ready');
    // Mounted again from what was written, it is the same, and no attribute has become a redirection.
    expect((await fixture.run(sandbox, listing)).stdout).toBe(seen);
    expect((await fixture.run(sandbox, 'cat src/* moved/src/*')).stdout).not.toContain('root:');
    expect((await neighbour.run('cat src/a.txt; ls')).stdout).toBe('a\nsrc\n');
    expect(repositoryDigest(bases)).toEqual(before);
    const { stdout: devices } = await fixture.run(
      sandbox,
      'find . /tmp /home /playground -xdev -type c -o -xdev -type b 2>/dev/null',
    );
    expect(devices.split('\n').filter((path) => path !== '' && !path.includes('white'))).toEqual([]);
    await fixture.run(
      sandbox,
      'cp /bin/sh /tmp/sh && chmod 6755 /tmp/sh && /tmp/sh -p -c id; cp /bin/sh here && chmod 6755 here',
    );
    expect((await fixture.run(sandbox, './here -p -c "id -u"; /tmp/sh -p -c "id -u"')).stdout).toBe('1000\n1000\n');
  });

  attack('A55: nothing shows of what was never tracked, and no mount of another sandbox', async (fixture) => {
    const { scratch } = fixture;
    for (const path of ['ignored/cache', 'node_modules/.cache/token', '.env.local', 'src/untracked'])
      scratch.file(path, fixture.canaries[2]?.secret ?? '');
    fixture.acceptRepository();
    positiveControl(
      'the work tree',
      onTheHost(['sh', '-c', 'cat .env.local ignored/cache'], { cwd: scratch.repository }).stdout,
      (text) => text !== '',
    );
    const victim = await fixture.victim();
    const sandbox = await fixture.open().create({ name: 'a' });
    const { stdout } = await fixture.run(
      sandbox,
      `find . | sort; cat .env* ignored/* node_modules/.cache/* src/untracked; ls -la .. /src/.. ${scratch.directory}; cat ${scratch.repository}/.git/config; find / -xdev \\( -name '.env*' -o -name untracked -o -name token \\) 2>/dev/null`,
    );
    expect(stdout.startsWith('.\n./.gitignore\n./src\n./src/a.txt\n')).toBe(true);
    expect(stdout).not.toMatch(/untracked|token|\.env/);
    const mounts = (await fixture.run(sandbox, 'cat /proc/self/mountinfo /proc/self/mounts /proc/self/mountstats'))
      .stdout;
    expect(mounts).toContain(' overlay ');
    // What is bound shows where it lies on its file system: the sandbox's own directory, and of no other one.
    expect(mounts).not.toContain(victim.id);
    expect(mounts).not.toContain(fixture.home);
    expect(mounts).not.toContain('store.git');
    await fixture.run(sandbox, 'debugfs -R ls /dev/sda; cat /dev/sd* /dev/vd* /dev/nvme* /dev/dm-*');
  });

  attack('A57: what an agent hides from its owner dies with it', async (fixture) => {
    await using litterbox = fixture.open();
    await litterbox.create({ name: 'a' });
    const child = spawn(
      process.execPath,
      [
        '--no-warnings',
        '--conditions=@litterbox/source',
        PROGRAM,
        'run',
        'a',
        "trap '' TERM HUP INT; (setsid sh -c \"trap '' TERM HUP; (setsid sleep 141421 &) ; sleep 141421\" >/dev/null 2>&1 &); perl -e 'use POSIX; fork and exit; setsid; fork and exit; exec qw(sleep 141421)'; echo started; sleep 141421",
      ],
      {
        cwd: fixture.scratch.repository,
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
          HOME: fixture.home,
          LITTERBOX_HOME: fixture.scratch.stateDirectory,
        },
      },
    );
    const closed = once(child, 'close');
    // Only this program holds the session: ours lets go.
    await (await litterbox.open('a'))[Symbol.asyncDispose]();
    await once(child.stdout, 'data');
    const running = await eventually(
      async () => processesWith('sleep 141421'),
      (found) => found.length >= 4,
    );
    positiveControl('hiding', running, (found) => found.length >= 4);
    child.kill('SIGKILL');
    await closed;
    await eventually(
      async () => processesWith('sleep 141421'),
      (found) => found.length === 0,
      4000,
    );
    const [record] = await litterbox.list();
    await eventually(
      async () => onTheHost(['sh', '-c', 'find /sys/fs/cgroup -name "$1" 2>/dev/null', 'sh', record?.id ?? '']).stdout,
      (found) => found === '',
    );
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(record?.id);
    expect((await (await litterbox.open('a')).run('echo again')).stdout).toBe('again\n');
  });

  attack(
    'A97: an agent that breaks its sandbox breaks nothing else, and its work can be had again',
    async (fixture) => {
      const litterbox = fixture.open();
      const neighbour = await litterbox.create({ name: 'neighbour' });
      const sandbox = await litterbox.create({ name: 'a' });
      await sandbox.files.write('kept.txt', 'kept\n');
      for (const command of [
        'kill -9 1',
        'kill -9 -1',
        'poweroff -f --no-wall',
        'head -c 600000000 /dev/zero >/tmp/fill',
        'for f in /run/litterbox/*; do echo "run x; touch x" >$f & done; sleep 0.1; kill -9 -1',
        'while :; do kill -9 -1; done',
        'rm -rf --no-preserve-root / 2>/dev/null',
      ]) {
        const outcome = await sandbox.run(command, { timeoutMs: 3000 }).then(
          ({ exitCode }) => exitCode,
          (error: { readonly code?: string }) => error.code,
        );
        expect({ command, isTypeEqual: typeof outcome === 'number' || /^[A-Z_]+$/.test(outcome ?? '') }).toEqual({
          command,
          isTypeEqual: true,
        });
        expect({ command, stdout: (await neighbour.run('echo fine')).stdout }).toEqual({ command, stdout: 'fine\n' });
        expect({ command, list: (await litterbox.list()).map(({ name }) => name).toSorted() }).toEqual({
          command,
          list: ['a', 'neighbour'],
        });
      }
      await expect(litterbox.create({ name: 'a' })).rejects.toMatchObject({ code: 'SANDBOX_EXISTS' });
      expect((await sandbox.log()).at(-1)?.subject).toBe('write: kept.txt');
      await sandbox[Symbol.asyncDispose]();
      await litterbox.restore('a', '1');
      const again = await litterbox.open('a');
      expect((await again.run('cat kept.txt src/a.txt')).stdout).toBe('kept\na\n');
    },
  );

  attack('A98: a loop of creates ends at a limit, and what there is goes on', async (fixture) => {
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    const { state } = sqliteState({ directory: fixture.scratch.stateDirectory });
    const ids = Array.from({ length: 511 }, () => SandboxId.make());
    for (const [index, id] of ids.entries())
      await state.insert({ ...sandbox.record, id, slug: slugify(`many ${index}`).slug });
    const started = performance.now();
    await expect(litterbox.create({ name: 'one more' })).rejects.toMatchObject({ code: 'SANDBOX_LIMIT' });
    expect((await litterbox.list()).length).toBe(512);
    expect(performance.now() - started).toBeLessThan(5000);
    expect((await fixture.run(sandbox, 'echo fine')).stdout).toBe('fine\n');
    for (const id of ids) await state.remove(id);
    await state[Symbol.asyncDispose]();
    positiveControl(
      'below the limit',
      (await litterbox.create({ name: 'one more' })).name,
      (name) => name === 'one-more',
    );
  });

  attack('AX8: what an agent writes to the pipes of its own processes never runs on the host', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    const payload = fixture.marks.touch('AX8');
    const ran = fixture.run(
      sandbox,
      `for n in 1 2 3 4 5; do for f in /run/litterbox/*; do for t in '0; ${payload}' '$(${payload})' '\`${payload}\`' '99999999999999999999' "$(printf '\\\\000\\\\377')" "run ../../../../tmp/x" 'ready 0 1 2 77'; do timeout 0.2 sh -c 'printf "%s\\\\n" "$1" >"$2"' sh "$t" "$f" & done; done; wait; done; ls -la /run/litterbox; rm -f /run/litterbox/*; mkfifo /run/litterbox/own; mv /run/litterbox /run/other`,
      { timeoutMs: 20_000 },
    );
    const outcome = await ran.then(
      ({ exitCode }) => exitCode,
      (error: { readonly code?: string }) => error.code,
    );
    expect(outcome).toBeDefined();
    await sandbox[Symbol.asyncDispose]();
    const again = await fixture.open().open('a');
    expect((await again.run('cat src/a.txt')).stdout).toBe('a\n');
  });
});
