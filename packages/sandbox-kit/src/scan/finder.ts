import { type ChannelCommand, type ExecChannel, LitterboxError, type ScanOptions } from '@litterbox/core/provider';
import { type ClockMoment, nanosecondsOf } from './clock-mark.ts';
import { type FoundEntry, foundEntry, sizeOf } from './found-entry.ts';
import { NulSplitter } from './nul-splitter.ts';
import { ScanBound, tooManyChanges } from './scan-bound.ts';
import { clockMoment, justBefore, secondsOfDate, TELL_CLOCK, clockOf, UNKNOWN_CLOCK } from './shell-clock.ts';
import { LOOKING_ENVIRONMENT } from './looking-environment.ts';
import { isMoment } from './told-clock.ts';

export interface FindRequest {
  /** Absolute paths. Empty: nothing is looked at, only the moment is told. */
  readonly starts: readonly string[];
  /** Only what changed after this moment, by the kernel's change time, in seconds since 1970 with decimals. @defaultValue everything */
  readonly since?: string;
  /** The entries of the starts themselves and nothing below: their types and paths alone. @defaultValue false */
  readonly childrenOnly?: boolean;
}

/**
 * Looks at file trees with the programs that are there: GNU `find`, or else any `find` and a `stat` that knows `-c`, as BusyBox
 * has them. The second tells of every entry and leaves the choice to us.
 */
export class Finder {
  readonly #channel: ExecChannel;
  #isPlain = false;

  constructor(channel: ExecChannel) {
    this.#channel = channel;
  }

  /** Gives the moment at which it began, by the clock that change times are taken from; entries come as they are found. */
  async find(request: FindRequest, onEntry: (entry: FoundEntry) => void, options?: ScanOptions): Promise<ClockMoment> {
    if (!this.#isPlain) {
      const moment = await this.#findByGnu(request, onEntry, options);
      if (moment !== undefined) return moment;
      this.#isPlain = true;
    }
    return await this.#findPlainly(request, onEntry, options);
  }

  /** `undefined` when this `find` does not know what we ask of it; it has found nothing then. */
  async #findByGnu(
    { starts, since, childrenOnly }: FindRequest,
    onEntry: (entry: FoundEntry) => void,
    options?: ScanOptions,
  ): Promise<ClockMoment | undefined> {
    let moment = '';
    let clock = UNKNOWN_CLOCK;
    const bound = new ScanBound();
    const splitter = new NulSplitter((text) => {
      if (text.startsWith('T ')) moment = isMoment(text.slice(2)) ? justBefore(text.slice(2)) : '';
      else if (text.startsWith('B ')) clock = clockOf(text);
      else if (bound.take(text)) onEntry(foundEntry(text));
    });
    const expression = childrenOnly
      ? ['-mindepth', '1', '-maxdepth', '1', '-printf', '%y 0 0 0 %p\\0']
      : starts.length === 0
        ? NOW
        : [...NOW, '-o', ...(since === undefined ? [] : ['-newerct', `@${since}`]), ...PRINT];
    const argv = ['find', '-P', ...(childrenOnly ? [] : [FDINFO]), ...starts, ...expression] as const;
    const { code, said } = await this.#run({ argv, script: `${TELL_CLOCK}\nexec "$@"` }, splitter, bound, options);
    if (splitter.isOverlong) throw failed(code);
    // 1: find could not look into some directory, which is then in the output as unreadable, or has vanished meanwhile.
    if (code <= 1 && (childrenOnly || moment !== '')) {
      if (code === 0 || !said.includes('-printf')) return clockMoment(moment, clock);
    }
    if (said.includes('-printf') || said.includes('-newerct')) return undefined;
    throw failed(code);
  }

  async #findPlainly(
    { starts, since, childrenOnly }: FindRequest,
    onEntry: (entry: FoundEntry) => void,
    options?: ScanOptions,
  ): Promise<ClockMoment> {
    // A name can hold anything, line ends included, but not a word that nobody knew when the file got its name.
    const word = crypto.randomUUID();
    const after = since === undefined ? undefined : nanosecondsOf(since);
    let moment = '';
    let wasMade = false;
    let clock = UNKNOWN_CLOCK;
    const bound = new ScanBound();
    const entryOf = (record: string) => {
      const [, mode = '', inode = '', size = '', date = '', time = '', rest = ''] =
        /^([0-9a-f]+) (\d+) (\d+) (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) [+-]0000 (.*)$/s.exec(record) ?? [];
      if (mode === '') return;
      const changed = nanosecondsOf(secondsOfDate(date, time));
      if (!wasMade) {
        wasMade = true;
        moment = justBefore(secondsOfDate(date, time));
        return;
      }
      if (after !== undefined && changed <= after) return;
      if (bound.take(rest)) onEntry(entryOfMode(Number.parseInt(mode, 16), inode, sizeOf(size), rest));
    };
    const splitter = new WordSplitter(`${word} `, (record) => {
      if (record.startsWith('B ')) clock = clockOf(record.replace(/\0$/, ''));
      else entryOf(record);
    });
    const depth = childrenOnly ? '-mindepth 1 -maxdepth 1' : '';
    const script = `printf '%s ' "$0"; ${TELL_CLOCK}; echo
stat -c "$0 %f %i %s %z %n" /proc/self/fdinfo || exit 3
[ $# = 0 ] || find "$@" ${depth} -exec stat -c "$0 %f %i %s %z %n" {} +
exit 0`;
    const { code } = await this.#run({ argv: ['sh', '-c', script, word, ...starts] }, splitter, bound, options);
    splitter.end();
    if (splitter.isOverlong) throw failed(code);
    if (moment === '' || code !== 0) throw failed(code);
    return clockMoment(moment, clock);
  }

  async #run(
    command: Pick<ChannelCommand, 'argv' | 'script'>,
    output: { push(bytes: Uint8Array): void },
    bound: ScanBound,
    options?: ScanOptions,
  ): Promise<{ readonly code: number; readonly said: string }> {
    let said = '';
    const full = new AbortController();
    const signal = AbortSignal.any([full.signal, ...(options?.signal ? [options.signal] : [])]);
    const own: NonNullable<ScanOptions['runInside']> = (one, call) => this.#channel.run(one, call);
    const outcome = await (options?.runInside ?? own)(
      {
        ...command,
        ...(options?.runInside && { cwd: '/', env: LOOKING_ENVIRONMENT }),
        // An agent's programs run beside it as the same user, and may stop it.
        timeoutMs: LOOK_TIMEOUT_MS,
        maxOutputBytes: 4096,
        isRaw: true,
        onOutput: ({ type, bytes }) => {
          if (!bound.isKept) return full.abort();
          if (type === 'stdout-data') output.push(bytes);
          else said = (said + new TextDecoder().decode(bytes)).slice(0, 4096);
        },
      },
      { signal },
    );
    if (!bound.isKept) throw tooManyChanges();
    if (outcome.interruption === 'abort') options?.signal?.throwIfAborted();
    if (outcome.interruption) throw failed(outcome.exit.code);
    return { code: outcome.exit.code, said };
  }
}

/**
 * Prints the kernel's time: a directory of /proc is made when it is first looked at, and this one belongs to `find` itself.
 */
const FDINFO = '/proc/self/fdinfo/';
const NOW = ['-path', '/proc/*', '-prune', '-printf', 'T %C@\\0'] as const;
/** One entry as `find` prints it: type, inode, mode (octal), size, path. */
const ENTRY_FORMAT = '%y %i %m %s %p\\0';
const PRINT = [
  '(',
  '-type',
  'd',
  '(',
  '!',
  '-readable',
  '-o',
  '!',
  '-executable',
  ')',
  '-printf',
  'u %i %m %s %p\\0',
  '-o',
  '-printf',
  ENTRY_FORMAT,
  ')',
] as const;

/** Far beyond what the largest workspace takes to look through. */
const LOOK_TIMEOUT_MS = 600_000;

/** Of `st_mode`. @see inode(7) */
const TYPE_BITS = 0o170000;
const LETTERS: Readonly<Record<number, string>> = { 0o100000: 'f', 0o040000: 'd', 0o120000: 'l', 0o020000: 'c' };
/** To read and to pass: what the owner, who looks, needs to list a directory. */
const LISTABLE = 0o500;

function entryOfMode(mode: number, inode: string, sizeBytes: number, path: string): FoundEntry {
  const letter = LETTERS[mode & TYPE_BITS] ?? 's';
  const isReadable = letter !== 'd' || (mode & LISTABLE) === LISTABLE;
  return { letter, inode, mode: mode & 0o7777, sizeBytes, path, isReadable };
}

/** Of one entry with the lines of its name. */
const MAX_LINES_CHARACTERS = 16 * 1024;

/** Splits lines that begin with a word, of texts that may have lines of their own. */
class WordSplitter {
  readonly #onText: (text: string) => void;
  readonly #nul: NulSplitter;
  readonly #word: string;
  #pending: string | undefined;
  #isOverlong = false;

  constructor(word: string, onText: (text: string) => void) {
    this.#word = word;
    this.#onText = onText;
    this.#nul = new NulSplitter((line) => this.#add(line), 0x0a);
  }

  get isOverlong(): boolean {
    return this.#isOverlong || this.#nul.isOverlong;
  }

  push(bytes: Uint8Array): void {
    this.#nul.push(bytes);
  }

  end(): void {
    if (this.#pending !== undefined) this.#onText(this.#pending);
    this.#pending = undefined;
  }

  #add(line: string): void {
    if (line.startsWith(this.#word)) {
      this.end();
      this.#pending = line.slice(this.#word.length);
    } else if (this.#pending !== undefined && this.#pending.length <= MAX_LINES_CHARACTERS)
      this.#pending += `\n${line}`;
    else this.#isOverlong ||= this.#pending !== undefined;
  }
}

function failed(code: number): LitterboxError {
  return new LitterboxError('SNAPSHOT_FAILED', `Looking for changes failed with exit code ${code}.`, {
    operation: 'runtime.scan',
    hint: 'Run the command again: what it changed is still there and will be recorded then.',
  });
}
