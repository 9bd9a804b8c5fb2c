import assert from 'node:assert/strict';
import { decodeRaw, type Host, type SandboxRuntime } from '@litterbox/core/provider';
import { collected } from '../collected.ts';
import { eventually } from '../eventually.ts';
import { processOne } from './process-one.ts';
import type { Check } from './suite.ts';
import { tcpServer } from './tcp-server.ts';
import { unixSockets } from './unix-sockets.ts';

/** Shell text: prints the arguments of every process of the machine that have a word in them, given in two parts, until its stdin ends. */
const WATCH_ARGUMENTS = `exec 3<&0; cat <&3 >/dev/null & watched=$!
while kill -0 $watched 2>/dev/null; do
for one in $(grep -l "$0[-]$1" /proc/[0-9]*/cmdline 2>/dev/null); do tr '\\0\\n' '  ' <$one 2>/dev/null | head -c 2000; echo; done
done`;

/** What must not be possible from inside. Each with a positive control where the same thing can be done outside. */
export function isolation(check: Check): void {
  processOne(check);
  unixSockets(check);

  check('there is no network but loopback, or nothing beyond it answers', async ({ shared, sh, host, provider }) => {
    const runtime = await shared();
    if (provider.traits.network === 'filtered') return await nothingAnswers(runtime, host);
    const { stdout } = await sh(runtime, 'tail -n +3 /proc/net/dev; cat /proc/net/route | tail -n +2');
    const interfaces = stdout.split('\n').flatMap((line) => /^\s*(\S+):/.exec(line)?.[1] ?? []);
    assert.ok(
      interfaces.every(
        (name) => name === 'lo' || /^(tunl|sit|ip6tnl|gre|erspan|ip_vti|ip6_vti|ip6gre|gretap)/.test(name),
      ),
      interfaces.join(),
    );
    assert.ok(!stdout.includes('eth'), stdout);
  });

  check("nothing of the host's files can be read", async ({ shared, sh, host }) => {
    const { homeDirectory } = await host.facts();
    const secret = crypto.randomUUID();
    const canary = `${homeDirectory}/.litterbox-kit-${secret}`;
    await host.files.write(canary, new TextEncoder().encode(secret));
    try {
      assert.equal((await collected(await host.spawn({ argv: ['cat', canary] }))).stdout, secret, 'positive control');
      const runtime = await shared();
      const { stdout, stderr } = await sh(
        runtime,
        `cat '${canary}' '/proc/1/root${canary}' '/proc/1/cwd/../../..${canary}'; ls -a '${homeDirectory}' ~; cat /etc/shadow /root/.ssh/* 2>&1`,
      );
      assert.ok(!(stdout + stderr).includes(`${secret}\n`) && !stdout.includes(secret), stdout);
    } finally {
      await host.files.remove(canary);
    }
  });

  check("nothing of the host's environment can be read", async ({ create, sh }) => {
    const secret = crypto.randomUUID();
    const { env } = globalThis.process;
    env['LITTERBOX_KIT_SECRET'] = secret;
    try {
      const runtime = await create();
      const { stdout } = await sh(runtime, 'env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"');
      assert.ok(stdout.includes('PATH='), 'positive control: something is read');
      assert.ok(!stdout.includes(secret) && !stdout.includes('LITTERBOX_KIT_SECRET'));
    } finally {
      delete env['LITTERBOX_KIT_SECRET'];
    }
  });

  check(
    "what is in a sandbox's environment is in no process's arguments, which every user of the machine reads",
    async ({ create, host, sh }) => {
      const secret = crypto.randomUUID();
      await using watched = await host.spawn({
        argv: ['sh', '-c', WATCH_ARGUMENTS, secret.slice(0, 8), secret.slice(9)],
        stdin: 'pipe',
      });
      let told = '';
      const watching = (async () => {
        for await (const { bytes } of watched) told += decodeRaw(bytes);
      })();
      const environment = { KIT_SECRET: secret, KIT_RAW: `\udcff${secret}` };
      const runtime = await create({ environment });
      const seen = await sh(runtime, 'printf %s "$KIT_SECRET$KIT_RAW"');
      assert.ok(seen.stdout.startsWith(secret) && seen.stdout.endsWith(secret), 'positive control');
      await using _terminal = await runtime.spawn({ argv: ['cat'], terminal: { columns: 80, rows: 24 } });
      await using _plain = await runtime.spawn({ argv: ['cat'], stdin: 'pipe' });
      // What is not UTF-8 may go another way.
      const env = { PATH: runtime.environment['PATH'] ?? '/usr/bin:/bin', KIT_SECRET: secret };
      await using _text = await runtime.spawn({ argv: ['cat'], stdin: 'pipe', env });
      // Once this one is seen, every process was looked at that was there before.
      await using _control = await host.spawn({ argv: ['sh', '-c', 'read word', `control-${secret}`], stdin: 'pipe' });
      await eventually(
        async () => told.includes(`control-${secret}`),
        (isTold) => isTold,
      );
      await watched.closeStdin();
      await watching;
      assert.deepEqual(
        told.split('\n').filter((line) => line !== '' && !line.includes(`control-${secret}`)),
        [],
      );
    },
  );

  check('processes of the host and of other sandboxes cannot be seen', async ({ create, shared, sh }) => {
    const [one, two] = [await shared(), await create()];
    await using mine = await two.spawn({ argv: ['sleep', '31415'] });
    const seen = 'cat /proc/*/cmdline 2>/dev/null | tr "\\0" " "';
    await eventually(
      async () => (await sh(two, seen)).stdout,
      (found) => found.includes('sleep 31415'),
    );
    const { stdout } = await sh(one, seen);
    assert.ok(!stdout.includes('31415') && !stdout.includes('jest'), stdout);
    await mine.kill('SIGKILL');
  });

  check('files of another sandbox cannot be seen', async ({ create, shared, sh }) => {
    const [one, two] = [await shared(), await create()];
    const secret = crypto.randomUUID();
    await sh(
      two,
      `echo ${secret} >secret; echo ${secret} >/tmp/secret; echo ${secret} >~/secret; echo ${secret} >/dev/shm/secret`,
    );
    const { stdout } = await sh(
      one,
      'cat secret ~/secret /tmp/secret /dev/shm/secret 2>/dev/null; find / -xdev -name secret 2>/dev/null; ls -a / ~ /tmp',
    );
    assert.ok(!stdout.includes('secret'), stdout);
  });

  check(
    "the kernel's files tell nothing of the machine's devices, interrupts and modules",
    async ({ shared, sh, host, provider }) => {
      const { controls } = await (await shared()).assurance();
      const status = controls.find(({ name }) => name === 'kernel-files')?.status;
      if (provider.traits.kernelFiles === 'readable' && status === 'weak') return; // said beforehand, and of the sandbox
      const look =
        'cat /proc/interrupts /proc/modules /proc/diskstats /proc/kallsyms /proc/config.gz 2>/dev/null | head -c 99; ls /sys/devices /sys/class /sys/block /sys/module /sys/kernel /sys/firmware 2>/dev/null | grep -v :';
      const outside = await collected(await host.spawn({ argv: ['sh', '-c', look] }));
      assert.notEqual(outside.stdout.trim(), '', 'positive control');
      const { stdout } = await sh(await shared(), look);
      assert.equal(stdout.trim(), '');
    },
  );

  check("the kernel's files tell neither its memory nor keys nor addresses", async ({ shared, sh }) => {
    const files = ['kcore', 'keys', 'timer_list', 'sched_debug', 'kmsg', 'kpagecount', 'slabinfo'];
    const { stdout } = await sh(
      await shared(),
      `cat ${files.map((name) => `/proc/${name}`).join(' ')} 2>/dev/null | head -c 99; grep -v -m 1 '^0*0 ' /proc/kallsyms 2>/dev/null`,
    );
    assert.equal(stdout.trim(), '');
  });

  check('the programs of the system cannot be changed', async ({ shared, sh }) => {
    const runtime = await shared();
    for (const place of ['/usr/bin/kit', '/bin/kit', '/etc/passwd', '/etc/kit', '/lib/kit', '/kit']) {
      const { exit } = await sh(runtime, `echo x >>${place}`);
      assert.notEqual(exit.code, 0, place);
    }
    assert.notEqual((await sh(runtime, 'rm -f "$(command -v cat)" && ! command -v cat')).exit.code, 0);
  });

  check(
    'the process has no capability, cannot gain privileges, and is under a system call filter',
    async ({ shared, sh }) => {
      const { stdout } = await sh(await shared(), 'cat /proc/self/status; id -u');
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
        assert.match(stdout, new RegExp(`^${set}:\\s+0+$`, 'm'));
      assert.match(stdout, /^NoNewPrivs:\s+1$/m);
      assert.match(stdout, /^Seccomp:\s+2$/m);
      assert.notEqual(stdout.trim().split('\n').at(-1), '0');
    },
  );

  check('kernel settings cannot be opened for writing', async ({ shared, sh }) => {
    const runtime = await shared();
    // Opened only, never written: the redirection of a command that does nothing.
    for (const file of [
      '/proc/sys/kernel/core_pattern',
      '/proc/sys/vm/drop_caches',
      '/proc/sysrq-trigger',
      '/proc/sys/kernel/modprobe',
      '/sys/kernel/uevent_helper',
      '/sys/fs/cgroup/cgroup.procs',
      '/dev/kmsg',
      '/dev/mem',
      '/proc/1/oom_score_adj_host',
    ]) {
      const { exit } = await sh(runtime, `if [ -e ${file} ]; then : >>${file}; else exit 1; fi`);
      assert.notEqual(exit.code, 0, file);
    }
  });

  check('namespaces and mounts cannot be made', async ({ shared, sh }) => {
    const runtime = await shared();
    for (const command of [
      'unshare -U true',
      'unshare -Ur true',
      'unshare -m true',
      'unshare -n true',
      'mount -t tmpfs none /tmp',
      'mount --bind / /tmp',
      'nsenter -t 1 -a true',
      'chroot / true',
      'hostname kit',
      // Some print an error and end well all the same: the clock tells.
      'date -s 2020-01-01 && [ "$(date +%Y)" = 2020 ]',
    ]) {
      assert.notEqual((await sh(runtime, command)).exit.code, 0, command);
    }
  });

  check('no descriptor is open but stdin, stdout and stderr', async ({ shared, sh }) => {
    const { stdout } = await sh(
      await shared(),
      'for f in /proc/$$/fd/*; do if [ -h "$f" ]; then echo "${f##*/}"; fi; done',
    );
    // A shell may hold its own script or terminal at 10 or above, closed in what it starts; below that nothing may be.
    const open = stdout.trim().split('\n').map(Number);
    assert.deepEqual(
      open.filter((descriptor) => descriptor > 2),
      [],
    );
  });

  check('device files are the harmless ones', async ({ shared, sh }) => {
    const { stdout } = await sh(
      await shared(),
      'find /dev -type b 2>/dev/null; for d in mem kmem port kmsg sda vda loop0 fuse kvm net/tun; do [ -e /dev/$d ] && echo /dev/$d; done; echo x >/dev/null && echo works',
    );
    assert.equal(stdout, 'works\n');
  });

  check('no mount of the host shows, and none inside can be changed', async ({ shared, sh }) => {
    const runtime = await shared();
    const { stdout } = await sh(runtime, 'cat /proc/self/mountinfo');
    for (const line of stdout.trim().split('\n'))
      assert.ok(
        !/ (cgroup2?|sysfs|debugfs|tracefs|securityfs|bpf) /.test(line.split(' - ')[1] ?? '') ||
          line.split(' ')[5]?.includes('ro'),
        line,
      );
    assert.notEqual((await sh(runtime, 'umount /proc || umount -l /tmp')).exit.code, 0);
  });

  check('a program that is set-user-ID gains nothing', async ({ shared, sh }) => {
    const runtime = await shared();
    const { stdout } = await sh(
      runtime,
      'p=$(command -v id); [ -x "$p" ] || p=/bin/id; cp "$p" ./id && chmod u+s,g+s ./id && ./id -u; for f in su sudo mount passwd; do p=$(command -v $f) && [ -u "$p" ] && "$p" --help >/dev/null 2>&1; done; id -u',
    );
    const [first, ...rest] = stdout.trim().split('\n');
    assert.equal(rest.at(-1), first);
  });

  check('a server on the loopback of the machine cannot be reached from inside', async ({ shared, host }) => {
    const port = 20_000 + Math.floor(Math.random() * 40_000);
    await using _outside = await tcpServer(host, port, { name: 'outside' });
    const ask = async (at: Pick<SandboxRuntime, 'spawn'>, to: number) =>
      (await collected(await at.spawn({ argv: ['sh', '-c', CLIENT, 'sh', String(to)] }))).stdout;
    assert.equal(await ask(host, port), 'hello from outside\n', 'positive control: it answers outside');
    const runtime = await shared();
    await using _inside = await tcpServer(runtime, 8080, { name: 'inside' });
    assert.equal(await ask(runtime, 8080), 'hello from inside\n', 'positive control: the client inside works');
    assert.equal(await ask(runtime, port), '');
  });

  check('a signal to every process ends nothing outside of the sandbox', async ({ create, shared, sh, host }) => {
    const [angry, neighbour] = [await create(), await shared()];
    await using outside = await host.spawn({ argv: ['sleep', '1000'] });
    await using beside = await neighbour.spawn({ argv: ['sleep', '1000'] });
    await using inside = await angry.spawn({ argv: ['sleep', '1000'] });
    const ended = inside.exit.then(
      ({ code }) => code !== 0,
      () => true,
    );
    await collected(await angry.spawn({ argv: ['sh', '-c', 'kill -9 -1; kill -9 1'] })).catch(() => undefined);
    assert.equal(await ended, true, 'positive control: what runs inside is ended');
    for (const [one, name] of [
      [outside, 'a process of the host'],
      [beside, 'a process of another sandbox'],
    ] as const) {
      await one.kill('SIGTERM'); // who was ended by the others has another signal
      assert.deepEqual(await one.exit, { code: 143, signal: 'SIGTERM' }, name);
    }
    assert.equal((await sh(neighbour, 'echo fine')).stdout, 'fine\n');
  });

  check('memory, log, symbols and keys of the kernel cannot be read', async ({ shared, sh }) => {
    const { stdout } = await sh(
      await shared(),
      `for f in /proc/kcore /proc/kmsg /dev/mem /dev/kmsg /dev/port /proc/kpagecount /sys/kernel/debug/sleep_time /sys/firmware/dmi/tables/DMI; do
head -c 1 "$f" 2>/dev/null | grep -q . && echo "read $f"; [ ! -r "$f" ] || { head -c 16 "$f" >/dev/null 2>&1 && [ "$(head -c 16 "$f" 2>/dev/null | wc -c)" != 0 ] && echo "bytes of $f"; }; done
dmesg 2>/dev/null | head -n 1; grep -v '^0000000000000000 ' /proc/kallsyms 2>/dev/null | head -n 1; cat /proc/keys 2>/dev/null | head -n 1
head -c 4 /proc/self/status`,
    );
    assert.equal(stdout, 'Name', 'the last is the positive control');
  });

  check('no device file can be made or copied', async ({ shared, sh }) => {
    const { stdout } = await sh(
      await shared(),
      `for d in "c 1 3" "c 1 5" "b 8 0" "b 7 0" "c 10 229"; do mknod "dev" $d 2>/dev/null && echo "made $d"; rm -f dev; done
mkfifo pipe && [ -p pipe ] && echo fifo
for d in null zero; do [ -c /dev/$d ] && cp -a /dev/$d copy 2>/dev/null && [ -c copy ] && head -c 1 copy >/dev/null 2>&1 && echo "copied $d"; rm -rf copy; done; :`,
    );
    assert.equal(stdout, 'fifo\n', 'a fifo can be made: the positive control');
  });
}

/** A server at every address of the machine is heard there, and not from inside; loopback inside goes on. */
async function nothingAnswers(runtime: SandboxRuntime, host: Host): Promise<void> {
  const port = 20_000 + Math.floor(Math.random() * 40_000);
  await using _outside = await tcpServer(host, port, { address: '0.0.0.0', name: 'outside' });
  const { stdout } = await collected(await host.spawn({ argv: ['cat', '/proc/net/fib_trie'] }));
  const found = stdout.matchAll(/\|-- ([0-9.]+)\n\s+\/32 host LOCAL/g);
  const addresses = [...new Set([...found].map(([, address = '']) => address))].filter(
    (one) => !one.startsWith('127.'),
  );
  assert.ok(addresses.length > 0, 'positive control: the machine has an address');
  const ask = async (at: Pick<SandboxRuntime, 'spawn'>, to: string, address: string) =>
    (await collected(await at.spawn({ argv: ['sh', '-c', CLIENT, 'sh', to, address] }))).stdout;
  for (const address of addresses) {
    assert.equal(
      await ask(host, String(port), address),
      'hello from outside\n',
      `positive control: ${address} answers`,
    );
    assert.equal(await ask(runtime, String(port), address), '', address);
  }
  await using _inside = await tcpServer(runtime, 8080, { name: 'inside' });
  assert.equal(
    await ask(runtime, '8080', '127.0.0.1'),
    'hello from inside\n',
    'positive control: the client inside works',
  );
}

/** Asks what listens at port `$1` of an address, 127.0.0.1 where `$2` names none, with whatever is there. */
const CLIENT = `set -- "$1" "\${2:-127.0.0.1}"; if command -v perl >/dev/null && perl -MIO::Socket::IP -e 1 2>/dev/null; then
exec perl -MIO::Socket::IP -e 'my $one = IO::Socket::IP->new(PeerHost => $ARGV[1], PeerPort => $ARGV[0], Timeout => 5) or exit 1;
print $one "hello\\n"; $one->flush; shutdown $one, 1; print while <$one>;' "$1" "$2"
elif command -v python3 >/dev/null; then
exec python3 -c 'import socket, sys
one = socket.create_connection((sys.argv[2], int(sys.argv[1])), 5); one.sendall(b"hello\\n"); one.shutdown(1)
sys.stdout.write(one.makefile().read())' "$1" "$2"
else
echo hello | nc -w 5 "$2" "$1"
fi`;
