import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectId } from '@litterbox/core/provider';
import { type ByteString, bytesOf } from '../git/byte-text.ts';
import type { PersonalRules } from '../person/personal-rules.ts';
import { processorTimeMs } from '../git/processor-time.ts';
import { drained, type GitProcess } from '../git/run-git.ts';
import type { Store } from '../store/store.ts';

/** Rules longer than this are no rules: git itself gives up at 100 MB. */
const MAX_RULES_BYTES = 1024 * 1024;
/** Of all rules that one git holds: it takes some thirty times as much memory for short ones. What comes later counts as none. */
const MAX_ALL_RULES_BYTES = 4 * 1024 * 1024;
/** Paths written to git before its answers are read. */
const BATCH = 2048;
/**
 * Processor time that git gets, and how much more for each path that it answered. Usual rules need some microseconds a path; a pattern
 * with several stars between slashes needs years for a deep one, in git's own matcher (wildmatch.c).
 */
const START_BUDGET_MS = 5000;
const PATH_BUDGET_MS = 1;
const POLL_MS = 250;
/** Ends a git that nobody watches any more, because this process was killed. One that used a part of it is replaced between calls. */
const ORPHAN_SECONDS = 120;
const REPLACED_AFTER_MS = 30_000;

/** Which lines of rules count: once git took too long, no line that can be costly; then none at all. */
type Strictness = 'all' | 'plain' | 'none';

export interface IgnoreQuery {
  readonly path: ByteString;
  readonly isDirectory: boolean;
}

/** The `.gitignore` of a directory of the workspace, as it is now. */
export type RuleOf = (directory: ByteString) => Promise<Rules | undefined>;

export interface Rules {
  readonly oid: ObjectId;
  /** When the object is not in the store yet. */
  readonly text?: Buffer;
}

/**
 * Says what git would ignore, by asking git: `check-ignore` over a skeleton of empty directories and `.gitignore`
 * files that this class makes, so that no process ever looks at the agent's own tree. The process is kept; a rule
 * that differs from what it has seen costs a new one. Without any rule on the way to a path, nothing is started.
 *
 * Rules are an agent's words, and git is not in the sandbox. Where it computes for too long it is ended, and from then on the lines that
 * can cost so much count no more: what they would have ignored is recorded.
 */
export class IgnoreMatcher implements AsyncDisposable {
  readonly #store: Store;
  readonly #personal: PersonalRules;
  #skeleton: string | undefined;
  #process: GitProcess | undefined;
  #answers: Answers | undefined;
  #personalVersion = '';
  #hasPersonal = false;
  #strictness: Strictness = 'all';
  /** A name that a rule of ours, at the end of each file of rules, ignores: git tells of it after all that was asked before. */
  #last = '';
  #laidBytes = 0;
  /** Paths that the process has answered. */
  #answered = 0;
  /** Directories that the skeleton holds as they are now, with all above them: each is looked at once a call, however deep the paths are. */
  #current = new Set<ByteString>();
  /** What the skeleton holds: the rules of a directory, or that it has none. */
  #laid = new Map<ByteString, ObjectId | undefined>();

  constructor(store: Store, personal: PersonalRules) {
    this.#store = store;
    this.#personal = personal;
  }

  /** The paths among `queries` that git would ignore, if it did not track them. */
  async ignored(
    queries: readonly IgnoreQuery[],
    ruleOf: RuleOf,
    signal?: AbortSignal,
  ): Promise<ReadonlySet<ByteString>> {
    const { version, text } = await this.#personal.read();
    const usedMs = this.#process && processorTimeMs(this.#process.pid);
    if (version !== this.#personalVersion || (usedMs ?? 0) > REPLACED_AFTER_MS) await this.#reset();
    this.#personalVersion = version;
    this.#current.clear();
    this.#hasPersonal = text.length > 0;

    const verdicts = new Map<ByteString, boolean>([['', false]]);
    const hasRules = new Map<ByteString, boolean>();
    // Level by level: below an ignored directory nothing can be taken back, so nothing there is asked about.
    const levels: Map<ByteString, boolean>[] = [];
    for (const query of queries) {
      let isDirectory = query.isDirectory;
      let depth = query.path.split('/').length - 1;
      for (let at = query.path; at !== ''; at = parentOf(at)) {
        const level = (levels[depth--] ??= new Map());
        const known = level.get(at);
        level.set(at, known === true || isDirectory);
        if (known !== undefined) break; // and with it all above
        isDirectory = true;
      }
    }
    for (const level of levels) {
      const asked: IgnoreQuery[] = [];
      for (const [path, isDirectory] of level) {
        const parent = parentOf(path);
        if (verdicts.get(parent)) {
          verdicts.set(path, true);
          continue;
        }
        let any = hasRules.get(parent);
        if (any === undefined) {
          const anyAbove = parent === '' ? this.#hasPersonal : (hasRules.get(parentOf(parent)) ?? false);
          any = anyAbove || (await ruleOf(parent)) !== undefined;
          hasRules.set(parent, any);
        }
        if (!any) {
          verdicts.set(path, false);
          continue;
        }
        asked.push({ path, isDirectory });
      }
      if (asked.length > 0) await this.#ask(asked, ruleOf, verdicts, signal);
    }
    return new Set(queries.filter(({ path }) => verdicts.get(path)).map(({ path }) => path));
  }

  async #ask(
    asked: readonly IgnoreQuery[],
    ruleOf: RuleOf,
    verdicts: Map<ByteString, boolean>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    while (this.#strictness !== 'none') {
      try {
        return await this.#asked(asked, ruleOf, verdicts, signal);
      } catch (error) {
        await this.#reset();
        if (!(error instanceof TooCostly)) throw error;
        this.#strictness = this.#strictness === 'all' ? 'plain' : 'none';
      }
    }
    for (const { path } of asked) verdicts.set(path, false);
  }

  async #asked(
    asked: readonly IgnoreQuery[],
    ruleOf: RuleOf,
    verdicts: Map<ByteString, boolean>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.#lay(asked, ruleOf);
    const process = (this.#process ??= await this.#start());
    const answers = (this.#answers ??= new Answers(process));
    process.idle(false);
    for (let at = 0; at < asked.length; at += BATCH) {
      const batch = asked.slice(at, at + BATCH);
      using watch = watchCost(process, START_BUDGET_MS + this.#answered * PATH_BUDGET_MS, signal);
      // Beside the last path: for one further up git would read all rules of the way down anew.
      const directory = parentOf(batch.at(-1)?.path ?? '');
      const last = directory === '' ? this.#last : `${directory}/${this.#last}`;
      process.stdin.write(Buffer.concat([...batch.map(({ path }) => path), last].map(asQuestion)));
      const reading = answers.until(`./${last}`);
      reading.catch(() => {});
      await drained(process.stdin);
      const ignored = await reading.catch((error: unknown) => {
        throw watch.reason ?? error;
      });
      this.#answered += batch.length;
      for (const { path } of batch) verdicts.set(path, ignored.has(`./${path}`));
    }
    process.idle(true);
  }

  /** Brings the skeleton to what the questions need. A directory git has seen otherwise makes it start afresh. */
  async #lay(asked: readonly IgnoreQuery[], ruleOf: RuleOf): Promise<void> {
    const needed = new Map<ByteString, Rules | undefined>();
    const isSettled = (directory: ByteString) => needed.has(directory) || this.#current.has(directory);
    for (const { path } of asked) {
      for (let directory = parentOf(path); !isSettled(directory); directory = parentOf(directory)) {
        needed.set(directory, await ruleOf(directory));
        if (directory === '') break;
      }
    }
    const isStale = [...needed].some(
      ([directory, rules]) => this.#laid.has(directory) && this.#laid.get(directory) !== rules?.oid,
    );
    if (isStale) {
      await this.#reset();
      return await this.#lay(asked, ruleOf); // from the top: what was settled is gone too
    }
    const skeleton = (this.#skeleton ??= await this.#makeSkeleton());
    for (const [directory, rules] of needed) {
      if (this.#laid.has(directory)) continue;
      const path = skeletonPath(skeleton, directory);
      mkdirSync(path, { recursive: true });
      const parts = rules === undefined ? [] : [await this.#rulesText(rules)];
      if (directory === '' || parts.length > 0) parts.push(Buffer.from(`\n${this.#last}\n`));
      if (parts.length > 0) writeFileSync(Buffer.concat([path, Buffer.from('/.gitignore')]), Buffer.concat(parts));
      this.#laid.set(directory, rules?.oid);
    }
    for (const directory of needed.keys()) this.#current.add(directory);
    for (const { path, isDirectory } of asked) {
      if (isDirectory) mkdirSync(skeletonPath(skeleton, path), { recursive: true });
    }
  }

  async #rulesText(rules: Rules): Promise<Buffer> {
    const text = rules.text ?? (await this.#store.reader.blobUpTo(rules.oid, MAX_RULES_BYTES));
    if (!text || text.length > MAX_RULES_BYTES || this.#laidBytes + text.length > MAX_ALL_RULES_BYTES)
      return Buffer.alloc(0);
    this.#laidBytes += text.length;
    if (this.#strictness === 'all') return text;
    const lines = text.toString('latin1').split('\n');
    return Buffer.from(lines.filter((line) => !isCostly(line)).join('\n'), 'latin1');
  }

  async #makeSkeleton(): Promise<string> {
    const skeleton = join(this.#store.workDirectory, `ignore-${process.pid}-${randomBytes(6).toString('hex')}`);
    this.#last = `litterbox-last-${randomBytes(16).toString('hex')}`;
    await mkdir(join(skeleton, 'tree'), { recursive: true, mode: 0o700 });
    const { text } = await this.#personal.read();
    writeFileSync(join(skeleton, 'personal'), text);
    return skeleton;
  }

  async #start(): Promise<GitProcess> {
    const skeleton = this.#skeleton ?? '';
    const personal = ['-c', `core.excludesFile=${join(skeleton, 'personal')}`];
    const caseRule = ['-c', `core.ignoreCase=${this.#personal.ignoresCase}`];
    // Not --verbose: git 2.39 crashes when it tells which rule decided below 24 directories (dir.c keeps a pointer into a list that moved).
    const verb = ['check-ignore', '--no-index', '--stdin', '-z'];
    return this.#store.start(['-c', 'core.bare=false', ...personal, ...caseRule, ...verb], {
      cwd: join(skeleton, 'tree'),
      cpuSeconds: ORPHAN_SECONDS,
      environment: {
        GIT_WORK_TREE: join(skeleton, 'tree'),
        GIT_INDEX_FILE: join(skeleton, 'index'),
        // check-ignore refuses literal pathspecs; paths begin with `./` instead, so that none begins with a colon.
        GIT_LITERAL_PATHSPECS: '0',
      },
    });
  }

  async #reset(): Promise<void> {
    const process = this.#process;
    const skeleton = this.#skeleton;
    this.#process = this.#answers = this.#skeleton = undefined;
    this.#answered = this.#laidBytes = 0;
    this.#current.clear();
    this.#laid = new Map();
    await process?.[Symbol.asyncDispose]();
    if (skeleton !== undefined) await rm(skeleton, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reset();
  }
}

export function parentOf(path: ByteString): ByteString {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

function skeletonPath(skeleton: string, directory: ByteString): Buffer {
  return Buffer.concat([Buffer.from(`${skeleton}/tree/`), bytesOf(directory)]);
}

/** Whether a line can cost more than its length: stars between slashes are tried in every combination. */
const isCostly = (line: string): boolean => line.includes('/') && (line.match(/\*+/g) ?? []).length > 2;

class TooCostly extends Error {}

/** Ends git when it has used up its processor time, or when the call is taken back; `reason` tells which. */
function watchCost(
  process: GitProcess,
  budgetMs: number,
  signal: AbortSignal | undefined,
): Disposable & { readonly reason?: unknown } {
  const startedAtMs = performance.now();
  const watch: Disposable & { reason?: unknown } = {
    [Symbol.dispose]() {
      clearInterval(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
  const end = (reason: unknown) => {
    watch.reason ??= reason;
    process.kill();
  };
  const abort = () => end(signal?.reason);
  const timer = setInterval(() => {
    const usedMs = processorTimeMs(process.pid) ?? performance.now() - startedAtMs;
    if (usedMs > budgetMs) end(new TooCostly());
  }, POLL_MS);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  return watch;
}

const asQuestion = (path: ByteString): Buffer => bytesOf(`./${path}\0`);

/** Answers of `check-ignore -z`: the paths that are ignored, in the order of the questions, each ended by a NUL. */
class Answers {
  readonly #process: GitProcess;
  #rest: Buffer = Buffer.alloc(0);
  readonly #paths: ByteString[] = [];
  #isEnded = false;
  #arrived: (() => void) | undefined;

  constructor(process: GitProcess) {
    this.#process = process;
    process.stdout.on('data', (chunk: Buffer) => {
      const buffer = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
      let at = 0;
      for (let end = buffer.indexOf(0); end >= 0; end = buffer.indexOf(0, at)) {
        this.#paths.push(buffer.toString('latin1', at, end));
        at = end + 1;
      }
      this.#rest = buffer.subarray(at);
      this.#arrived?.();
    });
    process.stdout.on('close', () => {
      this.#isEnded = true;
      this.#arrived?.();
    });
  }

  /** All that are ignored before the last question, which is. */
  async until(last: string): Promise<ReadonlySet<string>> {
    while (this.#paths.at(-1) !== last) {
      if (this.#isEnded) {
        const { code, stderr } = await this.#process.ended;
        const failure = `git check-ignore ended with ${code}: ${stderr}`;
        // The kernel ended it: for its processor time, or because so deep a path and such a pattern are too much for its stack.
        throw /\(SIG[A-Z]+\)$/.test(stderr) ? new TooCostly(failure) : new Error(failure);
      }
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
    return new Set(this.#paths.splice(0));
  }
}
