import type { CallOptions, ProcessHandle, ProcessSpec } from '@litterbox/core/provider';
import { LONGEST_PATH_BYTES } from './longest-path.ts';
import { parseWalk, type Walk } from './parse-walk.ts';
import { MAX_CONTENT_BYTES, ResidentProgram } from './resident-program.ts';

/** Directories with more entries are left to `find`, which need not ask for each one's type. */
const MAX_LISTED = 512;
/** Where more directories changed, one `find` for all is faster. */
const MAX_DIRECTORIES = 8;
/**
 * Answers requests that end with NUL, the first of which may be its last argument, each with texts that end with NUL, the last of them an `E`:
 *
 * - `W<moment>`: what `find` would print of each entry below the first directory whose change time is the moment's or later, all
 *   without one: type, inode, mode, size, path; a directory that it cannot read as `u`. First comes `T` with the moment
 *   of now, by the clock that change times are taken from, how far that is ahead of the time since the start of the machine, and the
 *   name of that start. Where there are few directories among them, each follows once more
 *   with `D` and its path, and then `+`, type and name of each of its entries below the second directory; large ones do not.
 *   After a file comes `=` and its content, as long as its owner may read it and contents are little: NUL and
 *   SOH in it as SOH and the next byte.
 *   After the first directory comes `N` with the number of entries that it holds, told or not. Then come the layers below it, the topmost
 *   first, each after an `L` and its name. A layer whose own directory has not changed since the moment is passed over: nobody writes to it.
 *   Contents of a layer below are never told, because a layer above may hide them.
 *
 * Perl's times are doubles, a quarter of a microsecond apart in this century, so that both ends are widened by a microsecond.
 * Links are not followed, whatever is swapped meanwhile: each directory is entered from the one above it, by a descriptor.
 */
const PROGRAM = String.raw`
use strict; use warnings; no warnings 'recursion'; use Fcntl; use Time::HiRes qw(lstat stat clock_gettime);
my ($changes, $workspace, $frozen, $most, $few, $longest, $room, $first) = @ARGV; my $slack = 1e-6;
my %letter = (0100000 => 'f', 0040000 => 'd', 0120000 => 'l', 0020000 => 'c');
my ($mark, $out, $left, $held, @directories);
my $boot = ''; if (open my $file, '<', '/proc/sys/kernel/random/boot_id') { local $/ = "\n"; $boot = <$file> // ''; chomp $boot }
sub ahead { my $ahead = eval { clock_gettime(0) - clock_gettime(7) }; $ahead // 0 }
sub letter { $letter{$_[0] & 0170000} // 's' }
sub directory { sysopen my $at, $_[0], O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_NOFOLLOW or return; $at }
sub names {
  my ($at) = @_; chdir $at or return; opendir my $dir, '.' or return;
  my @names = grep { $_ ne '.' && $_ ne '..' } readdir $dir; closedir $dir; \@names
}
sub content {
  my ($name, $s) = @_;
  return if $s->[7] > $left || !($s->[2] & 0400);
  sysopen my $file, $name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW or return;
  return if !-f $file;
  my ($content, $got) = ('', 0);
  while ($got = sysread $file, $content, $left + 1 - length $content, length $content) { return if length $content > $left }
  return if !defined $got;
  $left -= length $content; $content =~ s/([\x00\x01])/"\x01" . chr(1 + ord $1)/ge; $out .= "=$content\0";
}
sub told {
  my ($letter, $path, $s, $name) = @_;
  return if $mark ne '' && $s->[10] < $mark;
  push @directories, $path if $letter eq 'd' && @directories <= $few;
  $out .= sprintf "%s %s %o %s %s\0", $letter, $s->[1], $s->[2] & 07777, $s->[7], $path;
  content($name, $s) if $letter eq 'f' && $left > 0;
  if (length $out > 65536) { print $out; $out = ''; }
}
sub visit {
  my ($at, $path, $s) = @_;
  my $names = length $path > $longest ? undef : names $at;
  told($names ? 'd' : 'u', $path, $s); $held += @{$names // []};
  for my $name (@{$names // []}) {
    my @s = lstat $name or next;
    my $below = $path eq '' ? $name : "$path/$name"; my $letter = letter $s[2];
    if ($letter ne 'd') { told($letter, $below, \@s, $name); next }
    my $child = directory $name;
    if (!$child) { die if $!{EMFILE}; told('u', $below, \@s) if $!{EACCES} || $!{EPERM}; next }
    my @now = stat $child; visit($child, $below, \@now) if @now;
    chdir $at or return;
  }
}
sub walk {
  ($mark) = @_; $mark -= $slack if $mark ne '';
  $out = sprintf "T %.9f %.3f %s\0", clock_gettime(5) - $slack, ahead(), $boot; @directories = (); $left = $room; $held = 0;
  if (my $top = directory $changes) { my @s = stat $top; visit($top, '', \@s) if @s }
  elsif (my @s = lstat $changes) { told('u', '', \@s) }
  $out .= "N $held\0"; $left = 0;
  if (my $layers = $frozen ne '' && directory $frozen) {
    for my $name (sort { $b <=> $a } grep { /^[0-9]+$/ } @{names($layers) // []}) {
      chdir $layers or last; my $top = directory $name or next;
      my @s = stat $top or next; next if $mark ne '' && $s[10] < $mark;
      $out .= "L $name\0"; visit($top, '', \@s);
    }
  }
  if ($workspace ne '' && @directories <= $few) {
    for my $path (@directories) {
      my $at = directory $workspace;
      for my $name (split m{/}, $path) { last if !$at || !chdir $at; $at = directory $name }
      my $names = $at && names $at; next if !$names || @$names > $most;
      $out .= join '', "D $path\0", map { my @s = lstat $_; @s ? '+' . letter($s[2]) . " $_\0" : () } @$names;
    }
  }
  print $out; chdir '/';
}
$| = 1; $/ = "\0"; binmode STDIN; binmode STDOUT;
if (defined $first) { walk substr $first, 1; print "E\0" }
while (defined(my $line = <STDIN>)) {
  chomp $line; walk substr $line, 1; print "E\0";
}`;

interface WalkerPlace {
  readonly spawn: (spec: ProcessSpec, options?: CallOptions) => Promise<ProcessHandle>;
  readonly changes: string;
  readonly workspace?: string;
  /** Directory with layers below `changes` that nobody writes to: called by numbers, the higher above. */
  readonly frozen?: string;
}

/**
 * A program that stays in the scanner's namespace and looks for changes when it is told to: starting a program costs more than
 * looking at a few files does. Where there is no Perl it has no answers, and the caller starts `find`.
 */
export class ResidentWalker implements AsyncDisposable {
  readonly #program: ResidentProgram;
  #failures = 0;

  /**
   * @param place `changes`, `frozen`: where to walk; `workspace`: where to list, if it can be seen there
   * @param times in milliseconds, as those of {@link ResidentProgram}
   */
  constructor(
    { spawn, changes, workspace, frozen }: WalkerPlace,
    ...times: readonly [idleMs?: number, answerMs?: number]
  ) {
    const bounds = [MAX_LISTED, MAX_DIRECTORIES, LONGEST_PATH_BYTES, MAX_CONTENT_BYTES].map(String);
    const argv = ['perl', '-e', PROGRAM, changes, workspace ?? '', frozen ?? '', ...bounds] as const;
    this.#program = new ResidentProgram((first) => spawn({ argv: [...argv, ...first], stdin: 'pipe' }), ...times);
  }

  /** Starts it ahead of the first walk. */
  async warm(): Promise<void> {
    await this.#program.warm().catch(() => {}); // the walk then says that it has no answer
  }

  /** What changed at or after the moment, or all without one; `undefined` when it cannot tell. */
  async walk(since: string | undefined): Promise<Walk | undefined> {
    if (this.#failures > MAX_FAILURES) return undefined;
    try {
      return parseWalk((await this.#program.ask([`W${since ?? ''}`])) ?? []);
    } catch {
      // No Perl, or no session any more: `find` is started, and says what is wrong.
      this.#failures += 1;
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failures = Number.POSITIVE_INFINITY;
    await this.#program[Symbol.asyncDispose]();
  }
}

/** A session that ends takes it along, and it is started again; a machine without Perl is not asked for ever. */
const MAX_FAILURES = 3;
