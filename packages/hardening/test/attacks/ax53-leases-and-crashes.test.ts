// What the kernel does for a program beyond its sandbox: it holds up others for a lease, and starts a program for a crash.
import { arch } from 'node:os';
import { describe, expect } from '@jest/globals';
import { onTheHost, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

/** Numbers of system calls are of one architecture. */
const attackOnX64: typeof attack = (...test) => void (arch() === 'x64' && attack(...test));

const FCNTL = 72;
const [SET_LEASE, GET_LEASE, NOTIFY] = [1024, 1025, 1026];
/** Bits that the kernel cuts off, and a filter must not look at. */
const CUT_OFF = 2 ** 32;

describe('services of the kernel', () => {
  attackOnX64('AX53: no lease holds up who opens a file, and no notice tells what is used', async (fixture) => {
    const commands = [SET_LEASE, SET_LEASE + CUT_OFF, NOTIFY, NOTIFY + CUT_OFF, GET_LEASE];
    const program = `open(my $f, "<", "/tmp/leased") or die $!; open(my $d, "<", "/tmp") or die $!;
for my $c (${commands.join(', ')}) { my $n = fileno(($c & 0xffffffff) == ${NOTIFY} ? $d : $f);
print syscall(${FCNTL}, $n, $c, 0) == -1 ? "$!\\n" : "ok\\n" }`;
    const argv = ['sh', '-c', 'echo x >/tmp/leased; perl -e "$1"; rm -f /tmp/leased', 'sh', program] as const;
    positiveControl('leases', onTheHost([...argv]).stdout, (said) => said === 'ok\n'.repeat(commands.length));
    const { stdout } = await fixture.run(await fixture.open().create({ name: 'a' }), [...argv]);
    expect(stdout.trim().split('\n')).toEqual([...Array<string>(4).fill('Operation not permitted'), 'ok']);
  });

  attack('AX54: a crash inside starts no program of the machine, whatever limit it asks for', async (fixture) => {
    const limits = `grep -h 'Max core' /proc/1/limits /proc/self/limits | tr -s ' '`;
    const others = `${limits}; ulimit -c 0; ulimit -Hc 0; ${limits}; prlimit --core=0:0 sh -c "${limits}"`;
    const most = 'Max core file size 1 1 bytes \n';
    const control = onTheHost(['sh', '-c', others]).stdout;
    positiveControl("a limit of one's own", control, (said) => said.includes('Max core file size 0 0 bytes'));
    const sandbox = await fixture.open().create({ name: 'a' });
    const { stdout, exitCode } = await fixture.run(sandbox, others);
    expect({ stdout, exitCode }).toEqual({ stdout: most.repeat(6), exitCode: 0 });
    // Whoever may have no core files can have sandboxes, as long as the machine's handler is none.
    expect(commandLine(fixture, ['run', 'a', '--', 'true'], { prefix: ['prlimit', '--core=0:0'] })).toMatchObject({
      code: 0,
    });
  });
});
