import {
  type CallOptions,
  type ChangedPath,
  type ChangeMark,
  type ChangeScan,
  decodeRaw,
  type DirectoryChild,
  encodeRaw,
  ExecChannel,
  type FileType,
  type Host,
  LitterboxError,
  type ProcessHandle,
  type ProcessSpec,
} from '@litterbox/core/provider';
import { NulSplitter } from './nul-splitter.ts';
import { ResidentWalker } from './resident-walker.ts';

export interface ScannerInput {
  readonly host: Host;
  /** File that keeps {@link ChangeScanner}'s directory numbers between processes. */
  readonly stateFile: string;
  readonly changes: 'upper' | 'workspace';
  /** Starts a program in the scanner's namespace. */
  spawn(spec: ProcessSpec, call?: CallOptions): Promise<ProcessHandle>;
}

/** One entry as `find` prints it: type, inode, mode (octal), size, path. */
const ENTRY_FORMAT = '%y %i %m %s %P\\0';
const TYPES: Readonly<Record<string, FileType>> = { f: 'file', d: 'directory', l: 'symlink' };
/** Directories listed by one `find`. */
const LISTING_BATCH = 200;
/** So many directories are listed one by one; beyond, one `find` for all is faster. */
const MAX_WALKED = 8;

/**
 * Finds what changed by the kernel's change times, which no program can set, in the layer that holds changes alone.
 *
 * - A mark is a moment of the kernel's clock just before a scan began, as seconds with nine decimals. Everything with a
 *   change time at or after it counts. A clock that went back since makes the scan look at everything.
 * - A file that is gone shows in the change time of its directory, whose children are then listed from the workspace.
 * - A directory that was moved keeps the times of what is in it. It is known by its number: where a path has another
 *   number than before, everything below it counts. The numbers are kept in a file, and losing it costs only time.
 *
 * `find` runs in a namespace that sees the workspace read-only and nothing else, and follows no link.
 */
export class ChangeScanner implements AsyncDisposable {
  readonly #input: ScannerInput;
  readonly #channel: ExecChannel;
  readonly #root: '/changes' | '/workspace';
  readonly #walker: ResidentWalker;
  #known: Map<string, string> | undefined;
  /** Numbers seen by a scan; they count once its changes are recorded, which shows in the mark of the scan after. */
  #pending: { readonly next: ChangeMark; readonly numbers: Map<string, string> } | undefined;
  #isUnsaved = false;

  constructor(input: ScannerInput) {
    this.#input = input;
    this.#channel = new ExecChannel({ spawn: (spec, call) => input.spawn(spec, call) });
    this.#root = input.changes === 'upper' ? '/changes' : '/workspace';
    this.#walker = new ResidentWalker((spec, call) => input.spawn(spec, call), {
      changes: this.#root,
      workspace: '/workspace',
    });
  }

  /** Starts what the first scan needs, ahead of it. */
  warm(call?: CallOptions): Promise<void> {
    call?.signal?.throwIfAborted();
    return this.#walker.warm();
  }

  /** The mark that means "everything up to now". */
  now(call?: CallOptions): Promise<ChangeMark> {
    return this.#find([], [...NOW], () => {}, call);
  }

  async scan(mark: ChangeMark | undefined, call?: CallOptions): Promise<ChangeScan> {
    const root = this.#root;
    let entries: Entry[] = [];
    const collect = (entry: Entry) => void entries.push(entry);
    let next = await this.#changedSince(mark, collect, call);
    if (mark !== undefined && isBefore(next, mark)) {
      entries = [];
      next = await this.#find([root], [...NOW, '-o', ...PRINT], collect, call);
    }
    const known = entries.some(({ letter }) => letter === 'd') ? await this.#knownAt(mark) : undefined;
    if (known && mark !== undefined) await this.#addMoved(root, entries, known, call);
    const directories = entries.filter(({ letter }) => letter === 'd');
    if (known) await this.#remember(next, known, directories);
    return { next, changes: this.#changesOf(entries, directories, call) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#walker[Symbol.asyncDispose]();
    await this.#channel[Symbol.asyncDispose]();
    if (this.#isUnsaved) await this.#save().catch(() => {}); // it costs the next process some time, nothing else
  }

  /** By the program that stays, where there is one; else by one that is started now. */
  async #changedSince(
    mark: ChangeMark | undefined,
    onEntry: (entry: Entry) => void,
    call?: CallOptions,
  ): Promise<ChangeMark> {
    const texts = await this.#walker.walk(mark);
    let moment = '';
    for (const text of texts ?? []) {
      if (text.startsWith('T ')) moment = text.slice(2);
      else onEntry(entryOf(text));
    }
    return moment === '' ? await this.#find([this.#root], since(mark), onEntry, call) : moment;
  }

  /** Everything below directories that are not the ones known under their path. */
  async #addMoved(
    root: string,
    entries: Entry[],
    known: ReadonlyMap<string, string>,
    call?: CallOptions,
  ): Promise<void> {
    const moved = entries
      .filter(({ letter, path, inode }) => letter === 'd' && path !== '' && known.get(path) !== inode)
      .map(({ path }) => path);
    const tops = topmost(moved);
    if (tops.length === 0) return;
    const seen = new Set(entries.map(({ path }) => path));
    for (const batch of batches(tops)) {
      await this.#find(
        batch.map((path) => `${root}/${path}`),
        ['-printf', ENTRY_FORMAT.replace('%P', '%p')],
        (entry) => {
          const path = entry.path.slice(root.length + 1);
          if (seen.has(path)) return;
          seen.add(path);
          entries.push({ ...entry, path });
        },
        call,
      );
    }
  }

  async *#changesOf(
    entries: readonly Entry[],
    directories: readonly Entry[],
    call?: CallOptions,
  ): AsyncGenerator<ChangedPath, void, undefined> {
    for (const batch of batches(directories)) {
      const listed = new Map<string, DirectoryChild[]>(batch.map(({ path }) => [path, []]));
      const large = await this.#listed(batch, listed);
      const starts = large.map(({ path }) => (path === '' ? '/workspace' : `/workspace/${path}`));
      if (starts.length > 0)
        await this.#find(
          starts,
          ['-mindepth', '1', '-maxdepth', '1', '-printf', '%y 0 0 0 %p\\0'],
          ({ letter, path }) => {
            const relative = path.slice('/workspace/'.length);
            const cut = relative.lastIndexOf('/');
            listed
              .get(cut === -1 ? '' : relative.slice(0, cut))
              ?.push({ name: relative.slice(cut + 1), type: TYPES[letter] ?? 'special' });
          },
          call,
        );
      for (const { path, isReadable } of batch) {
        if (isReadable) yield { type: 'directory', path, children: listed.get(path) ?? [] };
        else yield { type: 'unreadable', path };
      }
    }
    for (const { letter, path, mode, sizeBytes } of entries) {
      if (letter === 'f') yield { type: 'file', path, sizeBytes, executable: (mode & 0o100) !== 0 };
      else if (letter === 'l') yield { type: 'symlink', path };
      // A character device is OverlayFS's mark of a deletion (no agent can make one); the directory's listing tells.
      else if (letter !== 'd' && letter !== 'c') yield { type: 'special', path };
    }
  }

  /** Lists small directories by the program that stays; gives the others back. */
  async #listed(directories: readonly Entry[], listed: Map<string, DirectoryChild[]>): Promise<readonly Entry[]> {
    const others: Entry[] = [];
    for (const directory of directories) {
      const children = directories.length > MAX_WALKED ? undefined : await this.#walker.list(directory.path);
      if (!children) others.push(directory);
      else
        listed.set(
          directory.path,
          children.map(([letter, name]) => ({ name, type: TYPES[letter] ?? 'special' })),
        );
    }
    return others;
  }

  /** Runs one `find` and gives the moment at which it began, when asked for; entries come as they are printed. */
  async #find(
    starts: readonly string[],
    expression: readonly string[],
    onEntry: (entry: Entry) => void,
    call?: CallOptions,
  ): Promise<ChangeMark> {
    let moment = '';
    const parser = new NulSplitter((text) => {
      if (text.startsWith('T ')) moment = justBefore(text.slice(2));
      else onEntry(entryOf(text));
    });
    const outcome = await this.#channel.run(
      {
        argv: ['find', '-P', ...(expression[0] === NOW[0] ? [FDINFO] : []), ...starts, ...expression],
        maxOutputBytes: 4096,
        onOutput: ({ type, bytes }) => type === 'stdout-data' && parser.push(bytes),
      },
      call,
    );
    if (outcome.interruption === 'abort') call?.signal?.throwIfAborted();
    // 1: find could not look into some directory, which is then in the output as unreadable, or has vanished meanwhile.
    if (outcome.interruption || outcome.exit.code > 1) {
      throw new LitterboxError('SNAPSHOT_FAILED', `Looking for changes failed with exit code ${outcome.exit.code}.`, {
        operation: 'runtime.scan',
        provider: 'overlayfs',
        hint: 'Run the command again: what it changed is still there and will be recorded then.',
      });
    }
    return moment;
  }

  /** The directory numbers that were recorded by the given mark. */
  async #knownAt(mark: ChangeMark | undefined): Promise<Map<string, string>> {
    if (!this.#known) {
      const bytes = await this.#input.host.files.read(this.#input.stateFile, { maxBytes: MAX_STATE_BYTES });
      const kept = bytes ? (JSON.parse(decodeRaw(bytes)) as KeptNumbers) : { known: [] };
      this.#known = new Map(kept.known);
      this.#pending = kept.pending && { next: kept.pending.next, numbers: new Map(kept.pending.numbers) };
    }
    if (this.#pending && this.#pending.next === mark) {
      for (const [path, inode] of this.#pending.numbers) this.#known.set(path, inode);
      this.#isUnsaved = true;
    }
    this.#pending = undefined;
    return this.#known;
  }

  async #remember(next: ChangeMark, known: ReadonlyMap<string, string>, directories: readonly Entry[]): Promise<void> {
    const numbers = new Map(
      directories.filter(({ path, inode }) => known.get(path) !== inode).map(({ path, inode }) => [path, inode]),
    );
    if (numbers.size === 0) return;
    this.#pending = { next, numbers };
    await this.#save();
  }

  async #save(): Promise<void> {
    this.#isUnsaved = false;
    const kept: KeptNumbers = {
      known: [...(this.#known ?? [])],
      ...(this.#pending && { pending: { next: this.#pending.next, numbers: [...this.#pending.numbers] } }),
    };
    await this.#input.host.files.write(this.#input.stateFile, encodeRaw(JSON.stringify(kept)));
  }
}

/** Two million directories with short names. */
const MAX_STATE_BYTES = 256 * 2 ** 20;

interface KeptNumbers {
  readonly known: readonly (readonly [path: string, inode: string])[];
  readonly pending?: {
    readonly next: ChangeMark;
    readonly numbers: readonly (readonly [path: string, inode: string])[];
  };
}

interface Entry {
  readonly letter: string;
  readonly inode: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly path: string;
  readonly isReadable: boolean;
}

/**
 * Prints the kernel's time: a directory of /proc is made when it is first looked at, and this one belongs to `find` itself.
 */
const FDINFO = '/proc/self/fdinfo/';
const NOW = ['-path', '/proc/*', '-prune', '-printf', 'T %C@\\0'] as const;
const PRINT = [
  '(',
  '-type',
  'd',
  '!',
  '-readable',
  '-printf',
  'u %i %m %s %P\\0',
  '-o',
  '-printf',
  ENTRY_FORMAT,
  ')',
] as const;

/** The expression of a scan: the moment of now, and what changed from the mark on. */
function since(mark: ChangeMark | undefined): readonly string[] {
  return [...NOW, '-o', ...(mark === undefined ? [] : ['-newerct', `@${mark}`]), ...PRINT];
}

function entryOf(text: string): Entry {
  const [letter = '', inode = '', mode = '', size = ''] = text.split(' ', 4);
  const path = text.slice(letter.length + inode.length + mode.length + size.length + 4);
  return {
    letter: letter === 'u' ? 'd' : letter,
    inode,
    mode: Number.parseInt(mode, 8),
    sizeBytes: Number(size),
    path,
    isReadable: letter !== 'u',
  };
}

/** `find` compares strictly, and a change in the same tick of the kernel's clock carries the same time. */
function justBefore(moment: string): string {
  const [seconds = '0', fraction = ''] = moment.split('.');
  const nanoseconds = BigInt(seconds) * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0')) - 1n;
  const text = nanoseconds.toString().padStart(10, '0');
  return `${text.slice(0, -9)}.${text.slice(-9)}`;
}

function isBefore(one: string, other: string): boolean {
  const nanoseconds = (moment: string) => BigInt(moment.replace('.', ''));
  return nanoseconds(one) < nanoseconds(other);
}

/** Paths without those that lie below another of them. */
function topmost(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  return paths.filter((path) => {
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
      if (all.has(path.slice(0, cut))) return false;
    return true;
  });
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[], void, undefined> {
  for (let start = 0; start < items.length; start += LISTING_BATCH) yield items.slice(start, start + LISTING_BATCH);
}
