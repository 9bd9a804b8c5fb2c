import { decodeRaw, encodeRaw } from '../domain/raw-text.ts';
import type { ProcessHandle } from '../ports/process.ts';
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts';

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
 * Reads paths, each ended by NUL, up to an empty one, and answers with the length of an archive and the archive (ustar, as `tar`
 * makes it), or with dashes where `tar` has to decide: long names, special files, what cannot be read, what is large. Links at
 * the end of a path are not followed. What is gone is left out.
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
$| = 1; $/ = "\0"; binmode STDIN; binmode STDOUT; my @paths;
while (defined(my $path = <STDIN>)) {
  chomp $path; if ($path ne '') { push @paths, $path; next }
  my $out = archive(@paths); @paths = ();
  print defined $out ? sprintf('%010d', length $out) . $out : '-' x 10;
}`;

/**
 * A program that stays in the sandbox and packs small files: starting `tar` costs more than reading them. It is the sandbox's own
 * like `tar` is, so its answers are as hostile; the reader of the archive checks both. Where there is no Perl, or an agent ended or
 * stopped it, it has no answers, and the caller starts `tar`. It ends with the runtime.
 */
export class ResidentArchiver {
  readonly #runtime: SandboxRuntime;
  #packing: Promise<Packer> | undefined;
  #isBusy = false;
  #isWanted = false;
  #failures = 0;

  constructor(runtime: SandboxRuntime) {
    this.#runtime = runtime;
  }

  /** The archive of files and links of the workspace; `undefined` when it cannot tell. */
  async archive(paths: readonly string[]): Promise<Uint8Array | undefined> {
    // Who records once, as a command of a person does, has no use for a program that stays.
    if (!this.#isWanted) {
      this.#isWanted = true;
      return undefined;
    }
    if (this.#isBusy || this.#failures >= MAX_FAILURES || paths.length > MAX_PATHS) return undefined;
    this.#isBusy = true;
    try {
      this.#packing ??= Packer.start(this.#runtime);
      return await (await this.#packing).ask(paths);
    } catch {
      this.#failures += 1; // no Perl, or not any more
      const packing = this.#packing;
      this.#packing = undefined;
      void packing?.then((packer) => packer.end()).catch(() => {});
      return undefined;
    } finally {
      this.#isBusy = false;
    }
  }
}

class Packer {
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

  static async start(runtime: SandboxRuntime): Promise<Packer> {
    const argv = ['perl', '-e', PROGRAM, String(MAX_ARCHIVE_BYTES)] as const;
    return new Packer(
      await runtime.spawn({
        argv,
        cwd: runtime.workdir,
        stdin: 'pipe',
        env: { ...runtime.environment, PERL5OPT: '', LC_ALL: 'C' },
      }),
    );
  }

  async ask(paths: readonly string[]): Promise<Uint8Array | undefined> {
    if (this.#lost) throw this.#lost;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const answer = new Promise<Uint8Array | undefined>((resolve, reject) => {
      this.#waiting = { answered: resolve, failed: reject };
      timer = setTimeout(() => reject(new Error('no answer')), PATIENCE_MS);
    });
    try {
      const asked = this.#process.write(encodeRaw(`${paths.map((path) => `${path}\0`).join('')}\0`));
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
