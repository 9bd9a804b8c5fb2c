/**
 * A Perl program that opens each path of its arguments for writing and closes it again at once, and prints `path answer`
 * lines. Opened only, never written to and never cut: what can be opened could be written.
 */
export const OPEN_PROBE = `use strict; use Errno; my %names = map { Errno->can($_)->() => $_ } keys %!;
for my $path (@ARGV ? @ARGV : map { chomp; $_ } <STDIN>) { my $ok = sysopen(my $file, $path, 1 | 2048); print "$path ", ($ok ? 'ok' : $names{$!+0} // $!+0), "\\n"; close $file if $ok; }`;
