// The kernel as a sandbox meets it: settings, processes, namespaces, system calls.
import { arch } from 'node:os';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import {
  CANARY_VARIABLE,
  inPlainBubblewrap,
  OPEN_PROBE,
  onTheHost,
  parseProbe,
  positiveControl,
  probeProgram,
} from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';
import { processesWith } from './processes-with.ts';

/** Numbers of system calls are those of x86-64. */
const attackOnX64: typeof attack = (...test) => void (arch() === 'x64' && attack(...test));
const isRoot = process.getuid?.() === 0;
/** A user namespace of one's own with every capability in it, and no filter: what the kernel alone would let pass. */
const CAPABLE = ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'];

describe('the kernel', () => {
  attack('A41: nothing of the kernel can be opened for writing', async (fixture) => {
    const targets = [
      '/proc/sys/kernel/core_pattern',
      '/proc/sys/kernel/modprobe',
      '/proc/sys/vm/drop_caches',
      '/proc/sys/fs/binfmt_misc/register',
      '/proc/sys/kernel/hostname',
      '/proc/sysrq-trigger',
      '/proc/kcore',
      '/proc/kmsg',
      '/sys/kernel/uevent_helper',
      '/sys/fs/cgroup/memory/release_agent',
      '/sys/fs/cgroup/release_agent',
      '/sys/fs/cgroup/cgroup.procs',
      '/dev/mem',
      '/dev/kmsg',
      '/dev/port',
    ];
    const file = join(fixture.scratch.directory, 'own');
    closeSync(openSync(file, 'w'));
    const own = onTheHost(['perl', '-e', OPEN_PROBE, file]).stdout;
    positiveControl('the probe', own, (text) => text === `${file} ok\n`);
    if (isRoot) {
      // Root's bubblewrap with another user inside, and no more: that user is root outside.
      const open = inPlainBubblewrap(`perl -e '${OPEN_PROBE.replaceAll("'", "'\\''")}' /proc/sys/kernel/core_pattern`, [
        '--unshare-user',
        '--uid',
        '1000',
      ]);
      positiveControl('bubblewrap alone', open.stdout, (text) => text.includes('core_pattern ok'));
    }
    const sandbox = await fixture.open().create({ name: 'a' });
    const { stdout } = await fixture.run(sandbox, ['perl', '-e', OPEN_PROBE, ...targets]);
    expect(
      Object.entries(parseProbe(stdout)).filter(
        ([, answer]) => !['EACCES', 'EROFS', 'ENOENT', 'EPERM'].includes(answer),
      ),
    ).toEqual([]);
    expect(Object.keys(parseProbe(stdout))).toEqual(targets);
    await sandbox.run('sleep 271828 >/dev/null 2>&1 & :');
    const [pid] = await eventually(
      async () =>
        processesWith('sleep 271828').filter((one) => readFileSync(`/proc/${one}/comm`, 'utf8') === 'sleep\n'),
      (found) => found.length === 1,
    );
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [outside = ''] = /^Uid:\s+(\d+)/m.exec(status)?.slice(1) ?? [];
    expect(outside).toBe(isRoot ? '61100' : String(process.getuid?.()));
    for (const line of ['CapEff:\t0000000000000000', 'CapBnd:\t0000000000000000', 'NoNewPrivs:\t1', 'Seccomp:\t2'])
      expect(status).toContain(line);
    expect(readFileSync(`/proc/${pid}/uid_map`, 'utf8').trim().split(/\s+/)).toEqual(['1000', outside, '1']);
  });

  attack(
    'AX5: of all files below /proc and /sys, none but those of its own processes opens for writing',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      // The same walk finds what it should where the sandbox may write.
      const probe = `find "$@" -type f 2>/dev/null | perl -e '${OPEN_PROBE.replaceAll("'", "'\\''")}' | grep -a ' ok$'`;
      const own = await fixture.run(sandbox, [
        'sh',
        '-c',
        probe,
        'sh',
        '/proc/self/task',
        `${fixture.scratch.repository}/src`,
      ]);
      positiveControl('the walk', own.stdout, (text) => text.includes('/src/a.txt ok'));
      const { stdout } = await fixture.run(sandbox, [
        'sh',
        '-c',
        `${probe} | head -100`,
        'sh',
        '/proc/sys',
        '/proc/fs',
        '/proc/irq',
        '/proc/bus',
        '/proc/tty',
        '/proc/driver',
        '/proc/acpi',
        '/proc/scsi',
        '/proc/sysvipc',
        '/sys',
        '/usr/bin',
        '/etc',
      ]);
      expect(stdout).toBe('');
      const top = await fixture.run(sandbox, [
        'sh',
        '-c',
        `find /proc -maxdepth 1 -type f 2>/dev/null | perl -e '${OPEN_PROBE.replaceAll("'", "'\\''")}' | grep -a ' ok$'; find / -maxdepth 1 -mindepth 1 -printf '%p ' ; ls -A /dev`,
      ]);
      expect(top.stdout).not.toContain(' ok\n');
      expect((await fixture.run(sandbox, 'ls /sys /sys/fs')).stdout).toBe('/sys:\nfs\n\n/sys/fs:\ncgroup\n');
      expect(top.stdout).not.toMatch(/\/boot |\/opt |\/mnt |kmsg|mem\b|zfs|btrfs|fuse|kvm|loop/);
    },
  );

  attack("A42: only the sandbox's own variables are in any environment inside", async (fixture) => {
    const control = onTheHost(
      [
        'bwrap',
        '--bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--unshare-pid',
        '--proc',
        '/proc',
        '--clearenv',
        'cat',
        '/proc/1/environ',
      ],
      {
        env: { PATH: '/usr/bin:/bin', [CANARY_VARIABLE]: 'leaks' },
      },
    );
    positiveControl('bubblewrap with --clearenv alone', control.stdout, (text) => text.includes('leaks'));
    const sandbox = await fixture.open().create({ name: 'a' });
    const { stdout } = await fixture.run(
      sandbox,
      "cat /proc/1/environ; for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' <$f; done 2>/dev/null; env; (set)",
    );
    expect(stdout).toContain('HOME=/home/agent');
    expect(stdout).not.toContain(CANARY_VARIABLE);
    // The whole program as a person starts it, with the variable in its true environment.
    const secret = fixture.canaries[1]?.secret ?? '';
    const ran = commandLine(fixture, ['run', 'a', 'cat /proc/[0-9]*/environ /proc/1/environ | tr "\\0" "\\n"; env'], {
      env: { [CANARY_VARIABLE]: secret, OPENAI_API_KEY: secret, GITHUB_TOKEN: secret },
    });
    expect(ran.stdout).toContain('HOME=/home/agent');
    expect(ran.stdout).not.toMatch(/API_KEY|TOKEN/);
  });

  attackOnX64('A43: no namespace can be made or entered', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    const NEW = {
      user: 0x10000000,
      mount: 0x00020000,
      pid: 0x20000000,
      network: 0x40000000,
      ipc: 0x08000000,
      uts: 0x04000000,
      cgroup: 0x02000000,
      time: 0x80,
    };
    const program = probeProgram({
      ...Object.fromEntries(Object.entries(NEW).map(([name, flag]) => [`unshare-${name}`, [272, flag]])),
      ...Object.fromEntries(
        Object.entries(NEW)
          .filter(([name]) => name !== 'time')
          .map(([name, flag]) => [`clone-${name}`, [56, flag | 17, 0, 0, 0, 0]]),
      ),
      'clone3-anything': [435, '$zeros', 88],
      setns: [308, -1, 0],
    });
    const control = parseProbe(inPlainBubblewrap(`perl -e '${program.replaceAll("'", "'\\''")}'`, CAPABLE).stdout);
    positiveControl(
      'making namespaces',
      control,
      (answers) =>
        answers['unshare-user'] === 'ok' && answers['clone-network'] === 'ok' && answers['setns'] === 'EBADF',
    );
    const answers = parseProbe((await fixture.run(sandbox, ['perl', '-e', program])).stdout);
    expect(Object.keys(answers)).toEqual(Object.keys(control));
    for (const [name, answer] of Object.entries(answers))
      expect({ name, answer }).toEqual({ name, answer: name.startsWith('clone3') ? 'ENOSYS' : 'EPERM' });
    for (const command of [
      'unshare -Ur id',
      'unshare -m true',
      'nsenter -t 1 -a true',
      'nsenter -t 1 -U true',
      'bwrap --bind / / true',
      'chroot / true',
      'echo 1 >/proc/sys/user/max_user_namespaces',
    ])
      expect({ command, isExitCodeEqual: (await fixture.run(sandbox, command)).exitCode === 0 }).toEqual({
        command,
        isExitCodeEqual: false,
      });
  });

  attack('A49: only descriptors 0 to 2 are open inside, whatever the caller had open', async (fixture) => {
    const canary = `${fixture.home}/canary-read.txt`;
    const prefix = ['bash', '-c', 'exec 40<"$0" 251</etc 9<"$0"; exec "$@"', canary];
    // The descriptors 9 of the channel's own processes are FIFOs, of which nobody who reads has an end.
    const script =
      'ls -l /proc/self/fd; for f in /proc/[0-9]*/fd/*; do readlink $f; done; cat <&40; cat <&9; timeout 2 cat /proc/self/fd/40 /proc/[0-9]*/fd/40; timeout 2 cat /proc/[0-9]*/fd/9; ls /proc/self/fd/251/';
    const leaking =
      "require('node:child_process').spawnSync('bwrap', ['--bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'sh', '-c', 'ls /proc/self/fd'], { stdio: 'inherit' })";
    const [program = '', ...rest] = prefix;
    const control = onTheHost([program, ...rest, process.execPath, '-e', leaking]);
    positiveControl(
      'bubblewrap from a plain Node',
      control.stdout.split('\n'),
      (found) => found.includes('40') && found.includes('251'),
    );
    expect(commandLine(fixture, ['create', 'a'], { prefix }).code).toBe(0);
    const { stdout } = commandLine(fixture, ['run', 'a', script], { prefix });
    expect(stdout).not.toMatch(/canary|\/etc|litterbox-home/);
    const own = commandLine(fixture, ['run', 'a', 'ls /proc/self/fd'], { prefix }).stdout;
    // The third is the directory that ls reads.
    expect(own).toBe('0\n1\n2\n3\n');
    const piped = commandLine(fixture, ['run', 'a', '--', 'sh', '-c', 'cat; exec ls /proc/self/fd'], {
      prefix,
      input: 'said\n',
    }).stdout;
    expect(piped).toBe('said\n0\n1\n2\n3\n');
  });

  attack('A49: no link of /proc leads out, and no process of the machine is in it', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    const canary = `${fixture.home}/canary-read.txt`;
    positiveControl(
      'the root of a process',
      onTheHost(['cat', `/proc/self/root${canary}`]).stdout,
      (text) => text !== '',
    );
    const { stdout } = await fixture.run(
      sandbox,
      `for p in /proc/[0-9]*; do for l in root cwd exe; do cat $p/$l${canary} $p/$l/../../../../../..${canary}; readlink $p/$l; done; done 2>/dev/null; ls -d /proc/[0-9]* | wc -l; cat /proc/${process.pid}/cmdline /proc/${process.ppid}/cmdline; cat /proc/loadavg; ls /proc/1/map_files /proc/1/fd`,
    );
    expect(stdout).not.toContain('jest');
    const processes = Number(/^\d+$/m.exec(stdout)?.[0]);
    expect(processes).toBeGreaterThan(1);
    expect(processes).toBeLessThan(20);
  });

  attackOnX64(
    'A50: another process of the same sandbox can be traced, one of the host cannot be named',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      const victim = await fixture.victim();
      await victim.run('sleep 161803 >/dev/null 2>&1 & :');
      const [foreign = 0] = await eventually(
        async () => processesWith('sleep 161803'),
        (found) => found.length > 0,
      );
      const program = (pid: string) =>
        probeProgram({
          process_vm_readv: [310, pid, '$zeros', 1, '$zeros', 1, 0],
          process_vm_writev: [311, pid, '$zeros', 1, '$zeros', 1, 0],
          pidfd_getfd: [438, 0, 0, 0],
          kcmp: [312, pid, pid, 0, 0, 0],
          kill: [62, pid, 0],
          ptrace_seize: [101, 0x4206, pid, 0, 0],
          pidfd_open: [434, pid, 0],
        });
      const control = parseProbe(onTheHost(['perl', '-e', program('getppid()')]).stdout);
      positiveControl(
        "reaching a process of one's own",
        control,
        ({ kill, pidfd_open, process_vm_readv }) =>
          kill === 'ok' && pidfd_open === 'ok' && process_vm_readv !== 'EPERM',
      );
      for (const pid of [process.pid, process.ppid, foreign]) {
        const answers = parseProbe((await fixture.run(sandbox, ['perl', '-e', program(String(pid))])).stdout);
        expect({ pid, answers }).toEqual({
          pid,
          answers: {
            process_vm_readv: 'EPERM',
            process_vm_writev: 'EPERM',
            pidfd_getfd: 'EPERM',
            kcmp: 'EPERM',
            kill: 'ESRCH',
            ptrace_seize: 'ESRCH',
            pidfd_open: 'ESRCH',
          },
        });
      }
      // Its own: by file and by trace, as debuggers need it; it gains nothing that it has not.
      const own = await fixture.run(sandbox, ['perl', '-e', program('getppid()')]);
      expect(parseProbe(own.stdout)).toMatchObject({ kill: 'ok', pidfd_open: 'ok', process_vm_readv: 'EPERM' });
      expect(processesWith('sleep 161803')).toContain(foreign);
    },
  );

  attack('A58: of control groups its own can be read, and none can be entered or changed', async (fixture) => {
    const litterbox = fixture.open();
    const [sandbox, other] = [await litterbox.create({ name: 'a' }), await litterbox.create({ name: 'b' })];
    positiveControl('the control groups of the machine', onTheHost(['cat', '/proc/self/mountinfo']).stdout, (text) =>
      / cgroup2? /.test(text),
    );
    // Its own group is the root of what it sees: no path of the machine.
    const { stdout: groups } = await fixture.run(sandbox, 'cat /proc/self/cgroup');
    for (const line of groups.trim().split('\n')) expect(line).toMatch(/^\d+:[^:]*:\/(\.\.)?$/);
    const { stdout: mounts } = await fixture.run(sandbox, 'grep -e "- cgroup" /proc/self/mountinfo');
    for (const line of mounts.trim().split('\n'))
      expect(line).toMatch(/^\d+ \d+ \d+:\d+ \/ \/sys\/fs\/cgroup(\/[a-z]+)? ro,nosuid,nodev,/);
    const { stdout: read } = await fixture.run(
      sandbox,
      'cat /sys/fs/cgroup/memory*/memory.limit_in_bytes /sys/fs/cgroup/memory.max',
    );
    positiveControl('its own limit of memory', read, (text) => text === `${4 * 2 ** 30}\n`);
    const probe = OPEN_PROBE.replaceAll("'", "'\\''");
    const { stdout, exitCode } = await fixture.run(
      sandbox,
      `find /sys -type f | perl -e '${probe}' | grep -a ' ok$'
for d in $(find /sys -type d); do mkdir $d/x && echo "made $d/x"; for f in $d/cgroup.procs $d/tasks $d/memory.max; do (echo 0 >$f) && echo "wrote $f"; done; chmod 777 $d && echo "changed $d"; mount -o remount,rw $d && echo "mounted $d"; done
mount -t cgroup2 none /tmp; mount -t cgroup -o memory none /tmp
find / -xdev -name release_agent; find /sys -name release_agent; exit 5`,
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    // No process of another sandbox or of the machine has a number there, and no other group is below its own.
    const foreign = await other.attach({ command: ['sleep', '271828'] });
    const { stdout: left } = await fixture.run(
      sandbox,
      'for p in $(cat $(find /sys -name cgroup.procs)); do [ $p = 0 ] || [ -d /proc/$p ] || [ $p -gt $$ ] || echo "process $p"; done; find /sys/fs/cgroup -mindepth 2 -type d',
    );
    await foreign[Symbol.asyncDispose]();
    expect(left).toBe('');
  });

  attackOnX64('A59: clocks, names, keys, logs and counters of the kernel are out of reach', async (fixture) => {
    const program = probeProgram({
      settimeofday: [164, 0, 0],
      clock_settime: [227, 0, 0],
      clock_adjtime: [305, 0, '$zeros'],
      adjtimex: [159, '$zeros'],
      sethostname: [170, 0, -1],
      setdomainname: [171, 0, -1],
      reboot: [169, 0, 0, 0, 0],
      keyctl: [250, 0, -3, 0, 0, 0],
      add_key: [248, 0, 0, 0, 0, 0],
      request_key: [249, 0, 0, 0, 0],
      syslog: [103, 10, 0, 0],
      perf_event_open: [298, 0, 0, -1, -1, 0],
      bpf: [321, -1, 0, 0],
      userfaultfd: [323, -1],
      kexec_load: [246, 0, -1, 0, -1],
      init_module: [175, 0, 0, 0],
      finit_module: [313, -1, 0, 0],
      delete_module: [176, 0, 0],
      mount: [165, 0, 0, 0, 0, 0],
      umount: [166, 0, -1],
      pivot_root: [155, 0, 0],
      chroot: [161, 0],
      move_mount: [429, -1, 0, -1, 0, 0],
      open_tree: [428, -1, 0, 0],
      fsopen: [430, 0, -1],
      mount_setattr: [442, -1, 0, 0, 0, 0],
      open_by_handle_at: [304, -1, 0, 0],
      name_to_handle_at: [303, -1, 0, 0, 0, 0],
      swapon: [167, 0, -1],
      quotactl: [179, -1, 0, 0, 0],
      acct: [163, 1],
      iopl: [172, 9],
      ioperm: [173, 0, 0, 9],
      fanotify_init: [300, -1, 0],
      vhangup: [153],
      lookup_dcookie: [212, 0, 0, 0],
    });
    // A call that a kernel was built without says ENOSYS to everybody.
    const withoutVhangup = program.replace(/^try\('vhangup'.*$/m, '');
    const control = parseProbe(
      inPlainBubblewrap(`perl -e '${withoutVhangup.replaceAll("'", "'\\''")}'`, CAPABLE).stdout,
    );
    positiveControl(
      'without the filter',
      control,
      (answers) => Object.values(answers).filter((answer) => answer !== 'EPERM' && answer !== 'ENOSYS').length >= 15,
    );
    const sandbox = await fixture.open().create({ name: 'a' });
    const answers = parseProbe((await fixture.run(sandbox, ['perl', '-e', program])).stdout);
    expect(Object.entries(answers).filter(([, answer]) => answer !== 'EPERM')).toEqual([]);
    expect(Object.keys(answers).length).toBe(Object.keys(control).length + 1);
    for (const command of ['hostname evil', 'dmesg', 'keyctl show'])
      expect({ command, isExitCodeEqual: (await fixture.run(sandbox, command)).exitCode === 0 }).toEqual({
        command,
        isExitCodeEqual: false,
      });
  });
});
