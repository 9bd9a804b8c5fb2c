/** The answer of the kernel to one system call: `ok`, an errno's name, or `killed` when the caller did not survive it. */
export type ProbeAnswer = string;

/**
 * A Perl program that makes each system call in a child of its own and prints `name answer` lines. Perl, because every Debian
 * has it and it calls the kernel without a library in between. Arguments are Perl expressions; `$zeros` is a page of
 * zeros, to be read or written.
 */
export function probeProgram(calls: Readonly<Record<string, readonly (number | string)[]>>): string {
  const lines = Object.entries(calls).map(([name, args]) => `try('${name}', sub { syscall(${args.join(', ')}) });`);
  return `use strict; use Errno; use POSIX (); $| = 1; our $zeros = "\\0" x 4096; my %names = map { Errno->can($_)->() => $_ } keys %!;
sub try { my ($name, $call) = @_;
pipe(my $from, my $to) or die "pipe: $!"; my $child = fork(); die "fork: $!" unless defined $child;
if ($child == 0) { close $from; $! = 0; my $got = $call->(); my $errno = $!+0;
# A clone that worked is here twice: the new process says nothing.
if ($got == 0 && $name =~ /^clone/) { POSIX::_exit(0); }
syswrite($to, $got == -1 ? ($names{$errno} // $errno) : 'ok'); POSIX::_exit(0); }
close $to; sysread($from, my $answer, 64); waitpid($child, 0);
print "$name ", ($? & 127 ? 'killed' : length($answer // '') ? $answer : 'nothing'), "\\n"; }
${lines.join('\n')}
`;
}

export function parseProbe(output: string): Readonly<Record<string, ProbeAnswer>> {
  return Object.fromEntries(
    output
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
}
