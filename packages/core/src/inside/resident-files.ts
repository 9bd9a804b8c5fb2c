import { isLitterboxError } from '../domain/errors/errors.ts';
import { decodeRaw, encodeRaw } from '../domain/text/raw-text.ts';
import type { ProcessHandle } from '../ports/common/process.ts';
import type { SandboxRuntime } from '../ports/sandbox/sandbox-runtime.ts';

/** More is for tar. */
const MAX_PATHS = 32;
const MAX_ARCHIVE_BYTES = 256 * 1024;
/** Digits that say how long an answer is, ten dashes for none. */
const LENGTH_BYTES = 10;
/** Far more than reading little files takes; an agent may stop or replace what runs in its sandbox. */
const PATIENCE_MS = 2_000;
/** A sandbox without Perl is not asked for ever. */
const MAX_FAILURES = 3;

/**
 * Answers each request with ten digits and as many bytes, or with ten dashes for "I did nothing; do it another way". Texts of a
 * request end with NUL.
 *
 * - `P`, paths, an empty one: an archive of them (ustar, as `tar` makes it). Long names, special files, what cannot be read and what
 *   is large are for `tar`. Links at the end of a path are not followed. What is gone is left out.
 * - `W`, path, `x` or `-` or nothing, a word, a length, so many bytes: replaces a regular file, or makes one in a directory that is
 *   there, by a temporary file and a rename; executable or not, or as the old one is. Links and all else are for the script.
 */
const PROGRAM = String.raw`
use strict; use warnings; use Fcntl;
my $most = shift; my $padding = sub { "\0" x (-$_[0] % 512) };
sub header {
  my ($path, $type, $mode, $size, $link) = @_;
  my $h = pack 'a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 x247', $path, sprintf('%07o', $mode), '0000000', '0000000',
    sprintf('%011o', $size), '00000000000', '', $type, $link, 'ustar', '00';
  substr($h, 148, 8) = sprintf "%06o\0 ", unpack '%32C*', $h;
  $h;
}
sub archive {
  my $out = '';
  for my $path (@_) {
    return if length $path > 100;
    my @s = lstat $path;
    if (!@s) { next if $!{ENOENT} || $!{ENOTDIR}; return }
    my $type = $s[2] & 0170000;
    next if $type == 0040000;
    if ($type == 0120000) {
      my $link = readlink $path; return if !defined $link || length $link > 100;
      $out .= header($path, '2', 0777, 0, $link);
    } else {
      return if $type != 0100000 || $s[7] > $most;
      sysopen my $file, $path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW or return;
      return if !-f $file;
      my ($content, $got) = ('', 0);
      while ($got = sysread $file, $content, $most, length $content) { return if length $content > $most }
      return if !defined $got;
      $out .= header($path, '0', $s[2] & 0777, length $content, '') . $content . $padding->(length $content);
    }
    return if length $out > $most;
  }
  $out . "\0" x 1024;
}
sub put {
  my ($path, $mode, $word, $content) = @_;
  my @s = lstat $path;
  if (@s) { return if ($s[2] & 0170000) != 0100000 } elsif (!$!{ENOENT}) { return }
  return if $path !~ m{^(.+)/[^/]+$}s || !-d $1;
  my $temporary = "$1/.litterbox-$word";
  my $kept = $mode eq 'x' ? 0777 & ~umask : $mode eq '' && @s ? $s[2] & 0777 : undef;
  sysopen my $file, $temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666 or return;
  my $done = 1;
  for (my $at = 0; $done && $at < length $content; ) {
    my $count = syswrite $file, $content, length($content) - $at, $at;
    if (defined $count) { $at += $count } else { $done = 0 }
  }
  $done &&= chmod $kept, $file if defined $kept;
  $done = close($file) && $done;
  return '' if $done && rename $temporary, $path;
  unlink $temporary; return;
}
$| = 1; $/ = "\0"; binmode STDIN; binmode STDOUT;
sub text { my $text = <STDIN>; exit if !defined $text; chomp $text; $text }
for (;;) {
  my $out;
  if (text() eq 'P') {
    my @paths; for (my $path = text(); $path ne ''; $path = text()) { push @paths, $path }
    $out = archive(@paths);
  } else {
    my ($path, $mode, $word, $length, $content) = (text(), text(), text(), text(), '');
    while (length $content < $length) { read STDIN, $content, $length - length $content, length $content or exit }
    $out = put($path, $mode, $word, $content);
  }
  print defined $out ? sprintf('%010d', length $out) . $out : '-' x 10;
}`;

/**
 * A program that stays in the sandbox and packs and writes small files: starting `tar` or `mv` costs more than that. It is the
 * sandbox's own like those are, so its answers are as hostile; the reader of the archive checks both. Where there is no Perl, or an
 * agent ended or stopped it, it has no answers, and the caller starts the other programs. It ends with the runtime.
 */
export class ResidentFiles {
  readonly #runtime: SandboxRuntime;
  #helper: Promise<Helper> | undefined;
  #isBusy = false;
  #isWanted = false;
  #failures = 0;

  constructor(runtime: SandboxRuntime) {
    this.#runtime = runtime;
  }

  /** The archive of files and links of the workspace; `undefined` when it cannot tell. */
  async archive(paths: readonly string[]): Promise<Uint8Array | undefined> {
    if (!this.#isWorthIt()) return undefined;
    if (paths.length > MAX_PATHS) return undefined;
    return await this.#ask(encodeRaw(`P\0${paths.map((path) => `${path}\0`).join('')}\0`));
  }

  /**
   * Replaces or makes a file. False when it did not, and has left nothing.
   *
   * @param path absolute
   * @param mode `x` or `-` for a file that is to be executable or not, or nothing for one that stays as it is
   * @param word one that no other write has
   */
  async write(path: string, mode: '' | 'x' | '-', word: string, content: Uint8Array): Promise<boolean> {
    if (!this.#isWorthIt()) return false;
    const head = encodeRaw(['W', path, mode, word, content.length, ''].join('\0'));
    return (await this.#ask(joined([head, content], head.length + content.length))) !== undefined;
  }

  /** From the second time on: who writes or records once, as a command of a person does, has no use for a program that stays. */
  #isWorthIt(): boolean {
    const was = this.#isWanted;
    this.#isWanted = true;
    return was;
  }

  async #ask(request: Uint8Array): Promise<Uint8Array | undefined> {
    if (this.#isBusy || this.#failures >= MAX_FAILURES) return undefined;
    this.#isBusy = true;
    try {
      this.#helper ??= Helper.start(this.#runtime);
      return await (await this.#helper).ask(request);
    } catch (error) {
      // Without Perl there never is one. Whatever else it was may be otherwise the next time.
      this.#failures = isLitterboxError(error, 'NOT_FOUND') ? MAX_FAILURES : this.#failures + 1;
      const helper = this.#helper;
      this.#helper = undefined;
      // Gone for certain: what it has not done yet it must not do after the other way.
      await helper?.then((one) => one.end()).catch(() => {});
      return undefined;
    } finally {
      this.#isBusy = false;
    }
  }
}

const residents = new WeakMap<SandboxRuntime, ResidentFiles>();

/** One for each opened sandbox. */
export function residentFiles(runtime: SandboxRuntime): ResidentFiles {
  const resident = residents.get(runtime) ?? new ResidentFiles(runtime);
  residents.set(runtime, resident);
  return resident;
}

class Helper {
  readonly #process: ProcessHandle;
  #received: Uint8Array[] = [];
  #receivedBytes = 0;
  #lost: Error | undefined;
  #waiting: { answered(archive: Uint8Array | undefined): void; failed(reason: Error): void } | undefined;

  constructor(process: ProcessHandle) {
    this.#process = process;
    void this.#read().catch((error: Error) => {
      this.#lost = error;
      this.#waiting?.failed(error);
    });
  }

  static async start(runtime: SandboxRuntime): Promise<Helper> {
    const argv = ['perl', '-e', PROGRAM, String(MAX_ARCHIVE_BYTES)] as const;
    return new Helper(
      await runtime.spawn({
        argv,
        cwd: runtime.workdir,
        stdin: 'pipe',
        env: { ...runtime.environment, PERL5OPT: '', PERL_UNICODE: '', LC_ALL: 'C' },
      }),
    );
  }

  async ask(request: Uint8Array): Promise<Uint8Array | undefined> {
    if (this.#lost) throw this.#lost;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const answer = new Promise<Uint8Array | undefined>((resolve, reject) => {
      this.#waiting = { answered: resolve, failed: reject };
      timer = setTimeout(() => reject(new Error('no answer')), PATIENCE_MS);
    });
    try {
      const asked = this.#process.write(request);
      asked.catch((error: Error) => this.#waiting?.failed(error));
      return await answer;
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
    }
  }

  async end(): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }

  async #read(): Promise<void> {
    for await (const { type, bytes } of this.#process) {
      if (type !== 'stdout-data') continue;
      if (!this.#waiting) throw new Error('an answer that nobody asked for');
      this.#received.push(bytes);
      this.#receivedBytes += bytes.length;
      if (this.#receivedBytes > 2 * MAX_ARCHIVE_BYTES) throw new Error('too much');
      this.#answer();
    }
    throw new Error('it ended');
  }

  #answer(): void {
    if (this.#receivedBytes < LENGTH_BYTES) return;
    const whole = joined(this.#received, this.#receivedBytes);
    this.#received = [whole];
    const length = decodeRaw(whole.subarray(0, LENGTH_BYTES));
    if (!/^(\d{10}|-{10})$/.test(length)) throw new Error('no answer of the program');
    const isNone = length.startsWith('-');
    const wanted = LENGTH_BYTES + (isNone ? 0 : Number(length));
    if (whole.length < wanted) return;
    if (whole.length > wanted) throw new Error('more than was asked for');
    this.#received = [];
    this.#receivedBytes = 0;
    this.#waiting?.answered(isNone ? undefined : whole.subarray(LENGTH_BYTES));
  }
}

function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
