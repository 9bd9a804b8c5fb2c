// What an agent stops inside of its own sandbox, so that who works in it from outside waits for ever.
import { describe, expect } from '@jest/globals';
import { positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';

/** Stops the first process, and fills the pipe by which it is asked: one byte of room would be one request more. */
const DEAFEN = `use Fcntl; kill STOP => 2; my $state;
do { open(my $stat, "<", "/proc/2/stat"); $state = <$stat> } until $state =~ /^2 \\(.*\\) T /;
sysopen(my $pipe, "/run/litterbox/control", O_WRONLY | O_NONBLOCK) or die $!;
my $n = 0; for my $length (4096, 1) { while (defined(my $one = syswrite($pipe, "\\n" x $length))) { $n += $one } }
print "$n $state";`;

/** Stops the shell that ran this command, a moment after that has said how it went, and holds its output. */
const STOP_SHELL = `p=$PPID; (while kill -0 $$; do :; done; sleep 0.1; while sleep 0.01; do kill -STOP $p; done) & echo begun`;

describe('what is held up inside', () => {
  attack('AX205: the first process is stopped and its pipe is full, and nobody waits for ever', async (fixture) => {
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    const { stdout } = await fixture.run(sandbox, ['perl', '-e', DEAFEN]);
    positiveControl('a first process that stands still', stdout, (said) => /^\d{4,} 2 \(.*\) T /.test(said));
    // Another program has no shell in there yet.
    const other = await fixture.open().open('a');
    await expect(fixture.run(other, 'true')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await litterbox.setRunState('a', 'stopped');
    await litterbox.setRunState('a', 'ready');
    expect((await fixture.run(sandbox, 'echo on')).stdout).toBe('on\n');
  });

  attack('AX206: the shell of a command is stopped behind it, and the call ends', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    expect((await fixture.run(sandbox, STOP_SHELL, { timeoutMs: 60_000 })).stdout).toBe('begun\n');
    expect((await fixture.run(sandbox, 'echo on')).stdout).toBe('on\n');
  });
});
