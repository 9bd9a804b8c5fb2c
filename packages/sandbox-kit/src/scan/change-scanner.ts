import {
  ExecChannel,
  type ChangedPath,
  type DirectoryChild,
  decodeRaw,
  encodeRaw,
  type CallOptions,
  type FileType,
  type Host,
  type ProcessHandle,
  type ProcessSpec,
  type ChangeMark,
  type ChangeScan,
  type ScanOptions,
} from '@litterbox/core/provider';
import { clockMark, type ClockMoment, isComparable, momentOf } from './clock-mark.ts';
import { Finder, type FindRequest } from './finder.ts';
import { type FoundEntry, foundEntry } from './found-entry.ts';
import { type DirectoryNumbers, NO_NUMBERS, parseKeptNumbers } from './directory-numbers.ts';
import { LONGEST_PATH_BYTES } from './longest-path.ts';
import type { Walk } from './parse-walk.ts';
import { ResidentWalker } from './resident-walker.ts';
import { SessionScanner } from './session-scanner.ts';

/** Where a {@link ChangeScanner} looks, and by what it starts the programs that look. */
export interface ScannerInput {
  readonly host: Host;
  /** File that keeps {@link ChangeScanner}'s directory numbers between processes. */
  readonly stateFile: string;
  /** Absolute path, as {@link ScannerInput.spawn} sees it, of what is searched: the layer that holds changes alone, or the workspace. */
  readonly changes: string;
  /** Absolute path of the whole workspace. */
  readonly workspace: string;
  /** Absolute path of a layer between the base and `changes`, which never changes: it counts when there is no mark. */
  readonly prepared?: string;
  /**
   * Absolute path of a directory with layers between `prepared` and `changes` that nobody writes to any more: called by numbers, the higher
   * above. Each was renamed, or copied, after the last change in it, so that the change time of its directory is not before any in it.
   */
  readonly frozen?: string;
  /** Processes of the sandbox see these trees at these paths too: a shell of theirs may look. @defaultValue false */
  readonly isInside?: boolean;
  /** Told after a look at `changes` how many entries that holds, where the program that looked has counted them. */
  readonly onHeld?: (entries: number) => void;
  /** The layer began as a copy of another sandbox's: what is gone from its top may have left no other trace. @defaultValue false */
  readonly isCopy?: boolean;
  /** Starts a program where both paths lead to these trees. */
  spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle>;
  /**
   * Starts what answers in the scanner of the session, with the first bytes of its input; gives undefined where the session has none. Where it has one, nothing is started by
   * {@link ScannerInput.spawn}. It names the trees `/changes`, `/workspace`, `/prepared` and `/frozen`. @defaultValue no session has one
   */
  startScanner?(given: Uint8Array): Promise<ProcessHandle | undefined>;
  /**
   * A place outside of the runtime for the program that stays and looks for changes, where it sees what is searched and nothing
   * else. It lists no directory of the workspace there. @defaultValue it runs where everything else runs
   */
  readonly aside?: {
    readonly changes: string;
    spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle>;
  };
}

const TYPES: Readonly<Record<string, FileType>> = { f: 'file', d: 'directory', l: 'symlink' };
/** Directories listed by one `find`. */
const LISTING_BATCH = 200;

/**
 * Finds what changed by the kernel's change times, which no program can set, in the layer that holds changes alone.
 *
 * - A mark is a moment of the kernel's clock just before a scan began, and the name of that clock. Everything with a
 *   change time at or after it counts. Another clock, or one that was set back since, makes the scan look at everything.
 * - A file that is gone shows in the change time of its directory, whose children are then listed from the workspace.
 * - A directory that was moved keeps the times of what is in it. It is known by its number: where a path has another
 *   number than before, everything below it counts. The numbers are kept in a file, and losing it costs only time.
 * - A directory that cannot be read hides what changes in it. It is remembered without its number: everything below it counts once it can
 *   be read again, which shows in its own change time.
 *
 * Programs that look follow no link. Where they are not ours, their answers are as hostile as the files: they hide or invent an
 * agent's own work and nothing else.
 */
export class ChangeScanner implements AsyncDisposable {
  readonly #input: ScannerInput;
  readonly #channel: ExecChannel;
  readonly #session: SessionScanner;
  readonly #walker: ResidentWalker;
  readonly #finder: Finder;
  #known: Map<string, string> | undefined;
  /** Numbers seen by a scan; they count once its changes are recorded, which shows in the mark of the scan after. */
  #pending: { readonly next: ChangeMark; readonly numbers: Map<string, string> } | undefined;
  #isUnsaved = false;

  constructor(input: ScannerInput) {
    this.#input = input;
    this.#channel = new ExecChannel({ spawn: (spec, call) => input.spawn(spec, call) });
    this.#session = new SessionScanner(
      async (first) => await input.startScanner?.(encodeRaw(first.map((one) => `${one}\0`).join(''))),
    );
    this.#walker = new ResidentWalker(
      input.aside
        ? { spawn: input.aside.spawn, changes: input.aside.changes }
        : { ...input, spawn: (spec, call) => input.spawn(spec, call) },
    );
    this.#finder = new Finder(this.#channel);
  }

  /** Starts what the first scan needs, ahead of it. Never rejects, for nobody waits for it: the scan says what is wrong. */
  async warm(): Promise<void> {
    if (!(await this.#session.warm())) await this.#walker.warm();
  }

  /** The mark that means "everything up to now". */
  async now(options?: CallOptions): Promise<ChangeMark> {
    return clockMark(
      (await this.#session.now(options)) ?? (await this.#finder.find({ starts: [] }, () => {}, options)),
    );
  }

  async scan(mark: ChangeMark | undefined, { runInside, ...call }: ScanOptions = {}): Promise<ChangeScan> {
    const options = this.#input.isInside === true && runInside ? { ...call, runInside } : call;
    let { now, entries, listed } = await this.#changedSince(mark, options);
    const isOtherClock = mark !== undefined && !isComparable(mark, now);
    if (isOtherClock) ({ now, entries, listed } = await this.#changedSince(undefined, options));
    const next = clockMark(now);
    // A layer that is new holds nothing but its top, which has not changed: what is gone would have left a mark in it.
    const { changes, workspace, isCopy } = this.#input;
    if (mark === undefined && changes !== workspace && !isCopy && entries.every(isReadableTop)) entries = [];
    if (mark === undefined || isOtherClock) await this.#addPrepared(entries, options);
    const known = entries.some(({ letter }) => letter === 'd') ? await this.#knownAt(mark) : undefined;
    if (mark !== undefined && !isOtherClock && known?.get('') === UNREAD && entries.some(isReadableTop)) {
      ({ entries, listed } = await this.#changedSince(undefined, options));
      await this.#addPrepared(entries, options);
    }
    if (known) await this.#addOpened(entries, topmost(openedPaths(entries, known)), options);
    if (known && mark !== undefined) await this.#addMoved(entries, known, options);
    entries = uppermost(entries);
    const directories = entries.filter(({ letter }) => letter === 'd');
    if (known) await this.#remember(next, known, directories);
    return { next, changes: this.#changesOf(entries, directories, listed, options) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session[Symbol.asyncDispose]();
    await this.#walker[Symbol.asyncDispose]();
    await this.#channel[Symbol.asyncDispose]();
    if (this.#isUnsaved) await this.#save().catch(() => {}); // it costs the next process some time, nothing else
  }

  /** By a program that stays, where there is one; else by one that is started now. */
  async #changedSince(mark: ChangeMark | undefined, options?: ScanOptions): Promise<Changed> {
    const since = mark === undefined ? undefined : momentOf(mark);
    const walk: Walk | undefined = (await this.#session.walk(since, options)) ?? (await this.#walker.walk(since));
    if (walk) {
      const entries = walk.entries.map(({ text, layer }, index) => {
        const content = walk.contents.get(index);
        return { ...foundEntry(text), ...(content && { content }), ...(layer !== undefined && { layer }) };
      });
      this.#input.onHeld?.(walk.held);
      return { now: walk.now, entries, listed: walk.listed };
    }
    const { changes: root, frozen } = this.#input;
    const entries: FoundEntry[] = [];
    const starts = [root, ...(frozen === undefined ? [] : [frozen])];
    const now = await this.#finder.find(
      { starts, ...(since !== undefined && { since }) },
      (entry) => void entries.push(...this.#placed(entry)),
      options,
    );
    return { now, entries, listed: new Map() };
  }

  /** An entry that was found in one of the layers, with its path in there; nothing for the directory of frozen ones. */
  #placed(found: FoundEntry): readonly FoundEntry[] {
    const { changes, frozen } = this.#input;
    if (frozen === undefined || !`${found.path}/`.startsWith(`${frozen}/`)) return [below(changes, found)];
    const [layer = ''] = found.path.slice(frozen.length + 1).split('/', 1);
    return layer === '' ? [] : [{ ...below(`${frozen}/${layer}`, found), layer }];
  }

  #topOf({ layer }: FoundEntry): string {
    return layer === undefined ? this.#input.changes : `${this.#input.frozen}/${layer}`;
  }

  /** What a setup left. What is hidden by now, or gone, has vanished for whoever reads it, or shows in a directory's listing. */
  async #addPrepared(entries: FoundEntry[], options?: ScanOptions): Promise<void> {
    const root = this.#input.prepared;
    if (root === undefined) return;
    const seen = new Set(entries.map(({ path }) => path));
    for (const found of await this.#allBelow([root], options)) {
      const entry = below(root, found);
      if (!seen.has(entry.path)) entries.push(entry);
    }
  }

  async #allBelow(starts: readonly string[], options?: ScanOptions): Promise<readonly FoundEntry[]> {
    return (await this.#session.allBelow(starts, options)) ?? (await this.#found({ starts }, options));
  }

  /** By programs that are started now. */
  async #found(request: FindRequest, options?: ScanOptions): Promise<readonly FoundEntry[]> {
    const found: FoundEntry[] = [];
    await this.#finder.find(request, (entry) => found.push(entry), options);
    return found;
  }

  /** Everything below directories that are not the ones known under their path. */
  async #addMoved(entries: FoundEntry[], known: ReadonlyMap<string, string>, options?: ScanOptions): Promise<void> {
    const placeOf = (entry: FoundEntry) => `${this.#topOf(entry)}/${entry.path}`;
    const moved = entries.filter(
      ({ letter, path, inode, isReadable }) => letter === 'd' && path !== '' && isReadable && known.get(path) !== inode,
    );
    const tops = topmost(moved.map(placeOf));
    if (tops.length === 0) return;
    const seen = new Set(entries.map(placeOf));
    for (const batch of batches(tops))
      for (const found of await this.#allBelow(batch, options)) {
        if (seen.has(found.path)) continue;
        seen.add(found.path);
        entries.push(...this.#placed(found));
      }
  }

  /**
   * Everything below directories that could not be read before, as the workspace has it: a layer below may have kept what was made
   * there, in a directory that can still not be read.
   */
  async #addOpened(entries: FoundEntry[], opened: readonly string[], options?: ScanOptions): Promise<void> {
    const { workspace } = this.#input;
    const seen = new Set(entries.map(({ path }) => path));
    for (const batch of batches(opened))
      for (const found of await this.#allBelow(
        batch.map((path) => `${workspace}/${path}`),
        options,
      )) {
        const entry = below(workspace, found);
        if (!seen.has(entry.path)) entries.push(entry);
      }
  }

  async *#changesOf(
    entries: FoundEntry[],
    directories: readonly FoundEntry[],
    listed: Changed['listed'],
    options?: ScanOptions,
  ): AsyncGenerator<ChangedPath, void, undefined> {
    for (const batch of batches(directories)) {
      const children = new Map<string, DirectoryChild[]>();
      for (const { path } of batch)
        children.set(
          path,
          listed.get(path)?.map(([letter, name]) => ({ name, type: TYPES[letter] ?? 'special' })) ?? [],
        );
      const closed = new Set<string>();
      const others = batch.filter(({ path }) => !listed.has(path));
      const { workspace } = this.#input;
      const starts = others.map(({ path }) => (path === '' ? workspace : `${workspace}/${path}`));
      if (starts.length > 0) {
        const found =
          (await this.#session.entriesOf(starts, options)) ??
          (await this.#found({ starts, childrenOnly: true }, options));
        for (const { letter, path, isReadable } of found) {
          if (!isReadable) {
            closed.add(path.slice(workspace.length + 1)); // somebody has closed it since the look
            continue;
          }
          const cut = path.lastIndexOf('/');
          const parent = path.slice(workspace.length + 1, cut); // empty where the entry lies in the workspace's top
          children.get(parent)?.push({ name: path.slice(cut + 1), type: TYPES[letter] ?? 'special' });
        }
      }
      for (const { path, isReadable } of batch) {
        if (isReadable && !isTooLong(path) && !closed.has(path))
          yield { type: 'directory', path, children: children.get(path) ?? [] };
        else yield { type: 'unreadable', path };
      }
    }
    const isLayer = this.#input.changes !== this.#input.workspace;
    for (const { letter, path, mode, sizeBytes, content } of entries) {
      if (isTooLong(path)) yield { type: 'unreadable', path };
      else if (letter === 'f')
        yield { type: 'file', path, sizeBytes, executable: (mode & 0o100) !== 0, ...(content && { content }) };
      else if (letter === 'l') yield { type: 'symlink', path };
      // In a layer a character device is OverlayFS's mark of a deletion; the directory's listing tells. In a whole workspace it is what
      // an agent made, who may make that one device.
      else if (letter !== 'd' && (letter !== 'c' || !isLayer)) yield { type: 'special', path };
    }
    entries.length = 0; // whoever still holds the scan does not hold what it found
  }

  /** The directory numbers that were recorded by the given mark. */
  async #knownAt(mark: ChangeMark | undefined): Promise<Map<string, string>> {
    if (!this.#known) {
      const bytes = await this.#input.host.files.read(this.#input.stateFile, { maxBytes: MAX_STATE_BYTES });
      const kept = bytes ? parseKeptNumbers(decodeRaw(bytes)) : NO_NUMBERS;
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

  async #remember(
    next: ChangeMark,
    known: ReadonlyMap<string, string>,
    directories: readonly FoundEntry[],
  ): Promise<void> {
    const numbers = new Map(
      directories
        .map(({ path, inode, isReadable }) => [path, isReadable ? inode : UNREAD] as const)
        .filter(([path, inode]) => known.get(path) !== inode),
    );
    if (numbers.size === 0) return;
    this.#pending = { next, numbers };
    await this.#save();
  }

  async #save(): Promise<void> {
    this.#isUnsaved = false;
    const kept: DirectoryNumbers = {
      known: [...(this.#known ?? [])],
      ...(this.#pending && { pending: { next: this.#pending.next, numbers: [...this.#pending.numbers] } }),
    };
    await this.#input.host.files.write(this.#input.stateFile, encodeRaw(JSON.stringify(kept)));
  }
}

/** In place of the number of a directory that could not be read. */
const UNREAD = '!';

const isReadableTop = ({ path, letter, isReadable }: FoundEntry): boolean =>
  path === '' && letter === 'd' && isReadable;

/** Two million directories with short names. */
const MAX_STATE_BYTES = 256 * 2 ** 20;

/** What one look found. */
interface Changed {
  readonly now: ClockMoment;
  readonly entries: FoundEntry[];
  /** Entries of directories that were listed at once, by path. */
  readonly listed: ReadonlyMap<string, readonly (readonly [letter: string, name: string])[]>;
}

/** An entry whose path is absolute, with the path below the directory instead: empty for the directory itself. */
function below(root: string, entry: FoundEntry): FoundEntry {
  return { ...entry, path: entry.path.slice(root.length + 1) };
}

/** One entry for each path: that of the uppermost layer, which hides the others. One that was closed during the look is unreadable. */
function uppermost(entries: FoundEntry[]): FoundEntry[] {
  if (entries.every(({ layer, isReadable }) => layer === undefined && isReadable)) return entries;
  const heightOf = ({ layer }: FoundEntry) => Number(layer ?? Number.MAX_SAFE_INTEGER);
  const paths = new Map<string, FoundEntry>();
  for (const entry of entries.toSorted((one, other) => heightOf(other) - heightOf(one))) {
    const above = paths.get(entry.path);
    if (!above || (!entry.isReadable && heightOf(above) === heightOf(entry))) paths.set(entry.path, entry);
  }
  return [...paths.values()];
}

/** Paths of directories that can be read, but not when they were last looked at, or not in a layer below. */
function openedPaths(entries: readonly FoundEntry[], known: ReadonlyMap<string, string>): readonly string[] {
  const closed = new Set(
    entries.flatMap(({ isReadable, layer, path }) => (!isReadable && layer !== undefined ? [path] : [])),
  );
  return entries.flatMap(({ letter, isReadable, path }) =>
    letter === 'd' && isReadable && path !== '' && (closed.has(path) || known.get(path) === UNREAD) ? [path] : [],
  );
}

/** Programs inside could not open it by its name: a character of raw text has three bytes at most. */
const isTooLong = (path: string) => path.length * 3 > LONGEST_PATH_BYTES && encodeRaw(path).length > LONGEST_PATH_BYTES;

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
