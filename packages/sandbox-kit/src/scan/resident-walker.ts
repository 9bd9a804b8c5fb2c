import { encodeRaw, type CallOptions, type ProcessHandle, type ProcessSpec } from '@litterbox/core/provider';
import type { ClockMoment } from './clock-mark.ts';
import { LONGEST_PATH_BYTES } from './longest-path.ts';
import { NulSplitter } from './nul-splitter.ts';
import { ScanBound } from './scan-bound.ts';
import { toldMoment } from './told-clock.ts';

/** Directories with more entries are left to `find`, which need not ask for each one's type. */
const MAX_LISTED = 512;
/** Where more directories changed, one `find` for all is faster. */
const MAX_DIRECTORIES = 8;
/** How long nobody asks before it ends. Starting it again is hidden behind the command that is run. */
const IDLE_MS = 30_000;
/** How long a walk may take: far beyond what the largest workspace takes to look through. */
const WALK_MS = 600_000;
/** Contents told in one walk, in bytes: beyond, an archive is made of what is wanted. */
const MAX_CONTENT_BYTES = 64 * 1024;
/** A content with its mark before it; each of its bytes may take two. */
const MAX_TEXT_BYTES = 2 * MAX_CONTENT_BYTES + 1;

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

/** What a walk found. */
interface Walk {
  /** Of now, before anything was looked at. */
  readonly now: ClockMoment;
  /** Each as `find` prints it, and the name of the layer that it is in; those of the uppermost, which have none, come first. */
  readonly entries: readonly { readonly text: string; readonly layer?: string }[];
  /** Entries that the uppermost layer holds, changed or not. */
  readonly held: number;
  /** Of some small files among the entries, by their place in them. */
  readonly contents: ReadonlyMap<number, Uint8Array>;
  /** Entries of directories of the workspace that changed, by path: none where there are many, or many entries. */
  readonly listed: ReadonlyMap<string, readonly (readonly [letter: string, name: string])[]>;
}

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
  readonly #start: (request?: string) => Promise<ProcessHandle>;
  readonly #idleMs: number;
  readonly #walkMs: number;
  #walking: Promise<Walker> | undefined;
  #isBusy = false;
  #failures = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param place `changes`, `frozen`: where to walk; `workspace`: where to list, if it can be seen there
   * @param idleMs how long it stays without being asked
   * @param walkMs after how long one that says nothing is given up
   */
  constructor({ spawn, changes, workspace, frozen }: WalkerPlace, idleMs = IDLE_MS, walkMs = WALK_MS) {
    this.#idleMs = idleMs;
    this.#walkMs = walkMs;
    const bounds = [MAX_LISTED, MAX_DIRECTORIES, LONGEST_PATH_BYTES, MAX_CONTENT_BYTES].map(String);
    this.#start = (request) => {
      const first = request === undefined ? [] : [request];
      return spawn({
        argv: ['perl', '-e', PROGRAM, changes, workspace ?? '', frozen ?? '', ...bounds, ...first],
        stdin: 'pipe',
      });
    };
  }

  /** Starts it ahead of the first walk. */
  async warm(): Promise<void> {
    this.#rest();
    await this.#walker().catch(() => {}); // the walk then says that it has no answer
  }

  /** What changed at or after the moment, or all without one; `undefined` when it cannot tell. */
  async walk(since: string | undefined): Promise<Walk | undefined> {
    const texts = await this.#ask(`W${since ?? ''}`);
    if (!texts) return undefined;
    let now: ClockMoment | undefined;
    const entries: Walk['entries'][number][] = [];
    let held = 0;
    let layer: { readonly layer?: string } = {};
    const contents = new Map<number, Uint8Array>();
    const listed = new Map<string, (readonly [letter: string, name: string])[]>();
    let children: (readonly [letter: string, name: string])[] = [];
    for (const text of texts) {
      if (text.startsWith('=')) contents.set(entries.length - 1, unescaped(encodeRaw(text.slice(1))));
      else if (text.startsWith('+')) children.push([text.slice(1, 2), text.slice(3)]);
      else if (text.startsWith('T ')) now = toldMoment(text);
      else if (text.startsWith('D ')) listed.set(text.slice(2), (children = []));
      else if (text.startsWith('N ')) held = COUNT.test(text.slice(2)) ? Number(text.slice(2)) : 0;
      else if (text.startsWith('L ')) layer = { layer: text.slice(2) };
      else entries.push({ text, ...layer });
    }
    return now && { now, entries, held, contents, listed };
  }

  async #ask(request: string): Promise<readonly string[] | undefined> {
    if (this.#isBusy || this.#failures > MAX_FAILURES) return undefined;
    this.#isBusy = true;
    clearTimeout(this.#idle);
    try {
      const walking = this.#walking;
      const asking = (async () =>
        walking ? await (await walking).ask(request) : await (await this.#walker(request)).answered)();
      const texts = await this.#inTime(asking);
      if (texts) return texts;
    } catch {
      // No Perl, or no session any more: `find` is started, and says what is wrong.
    } finally {
      this.#isBusy = false;
      this.#rest();
    }
    this.#failures += 1;
    await this.#end();
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failures = Number.POSITIVE_INFINITY;
    await this.#end();
  }

  /** A program that stands still, as one of a machine that sends what it likes, is not waited for. */
  async #inTime(asking: Promise<readonly string[] | undefined>): Promise<readonly string[] | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#walkMs);
    });
    try {
      return await Promise.race([asking, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param request what it is asked at once, where it is not there yet */
  #walker(request?: string): Promise<Walker> {
    this.#walking ??= this.#start(request).then((process) => new Walker(process));
    return this.#walking;
  }

  /** Perl holds two megabytes: a sandbox whose agent thinks, or has gone, does without. */
  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (!this.#isBusy) void this.#end();
    }, this.#idleMs);
    (this.#idle as { unref?(): void }).unref?.(); // a program that has nothing else to do ends
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const walking = this.#walking;
    this.#walking = undefined;
    await (await walking?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }
}

/** What {@link PROGRAM} made of a content, made back. */
function unescaped(bytes: Uint8Array): Uint8Array {
  let from = bytes.indexOf(1);
  if (from === -1) return bytes;
  let to = from;
  for (; from < bytes.length; from += 1)
    bytes[to++] = bytes[from] === 1 ? (bytes[++from] ?? 1) - 1 : (bytes[from] ?? 0);
  return bytes.subarray(0, to);
}

/** Entries that a layer holds. */
const COUNT = /^\d{1,12}$/;

/** A session that ends takes it along, and it is started again; a machine without Perl is not asked for ever. */
const MAX_FAILURES = 3;

class Walker implements AsyncDisposable {
  readonly #process: ProcessHandle;
  #texts: string[] = [];
  #onEnd: ((texts: readonly string[] | undefined) => void) | undefined;
  #answered: Promise<readonly string[] | undefined> = this.#listen();
  #isAlive = true;

  constructor(process: ProcessHandle) {
    this.#process = process;
    void this.#read();
  }

  /** What it says to the request with which it was started, or to the last one since. */
  get answered(): Promise<readonly string[] | undefined> {
    return this.#answered;
  }

  async ask(request: string): Promise<readonly string[] | undefined> {
    if (!this.#isAlive) return undefined;
    this.#answered = this.#listen();
    await this.#process.write(encodeRaw(`${request}\0`));
    return await this.#answered;
  }

  #listen(): Promise<readonly string[] | undefined> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isAlive = false;
    await this.#process[Symbol.asyncDispose]();
  }

  async #read(): Promise<void> {
    let bound = new ScanBound();
    const splitter = new NulSplitter(
      (text) => {
        if (text !== 'E') return void (bound.take(text) && this.#texts.push(text));
        const texts = this.#texts;
        this.#texts = [];
        bound = new ScanBound();
        this.#onEnd?.(texts);
      },
      0,
      MAX_TEXT_BYTES,
    );
    try {
      for await (const { type, bytes } of this.#process) {
        if (type === 'stdout-data') splitter.push(bytes);
        if (splitter.isOverlong || !bound.isKept) break;
      }
      // What says too much does not end by itself.
      if (!splitter.isOverlong && bound.isKept) await this.#process.exit;
    } catch {
      // Whatever ended it, it is of no more use; who waits gets nothing.
    }
    this.#isAlive = false;
    this.#texts = [];
    this.#onEnd?.(undefined);
  }
}
