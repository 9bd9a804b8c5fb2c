import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectId } from '@litterbox/core/provider';
import { type ByteString, bytesOf } from './byte-text.ts';
import type { ObjectReader } from './object-reader.ts';
import type { PersonalRules } from './personal-rules.ts';
import { drained, type GitProcess } from './run-git.ts';
import type { Store } from './store.ts';

/** Rules longer than this are no rules: git itself gives up at 100 MB. */
const MAX_RULES_BYTES = 1024 * 1024;
/** Paths written to git before its answers are read. */
const BATCH = 2048;

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
 */
export class IgnoreMatcher implements AsyncDisposable {
  readonly #store: Store;
  readonly #personal: PersonalRules;
  #skeleton: string | undefined;
  #process: GitProcess | undefined;
  #answers: Answers | undefined;
  #personalVersion = '';
  #hasPersonal = false;
  /** What the skeleton holds: the rules of a directory, or that it has none. */
  #laid = new Map<ByteString, ObjectId | undefined>();

  constructor(store: Store, personal: PersonalRules) {
    this.#store = store;
    this.#personal = personal;
  }

  /** The paths among `queries` that git would ignore, if it did not track them. */
  async ignored(queries: readonly IgnoreQuery[], ruleOf: RuleOf): Promise<ReadonlySet<ByteString>> {
    const { version, text } = await this.#personal.read();
    if (version !== this.#personalVersion) await this.#reset();
    this.#personalVersion = version;
    this.#hasPersonal = text.length > 0;

    const verdicts = new Map<ByteString, boolean>([['', false]]);
    const hasRules = new Map<ByteString, boolean>();
    // Level by level: below an ignored directory nothing can be taken back, so nothing there is asked about.
    const levels: Map<ByteString, boolean>[] = [];
    for (const { path, isDirectory } of queries) {
      const names = path.split('/');
      for (let depth = 1; depth <= names.length; depth++) {
        const prefix = depth === names.length ? path : names.slice(0, depth).join('/');
        const level = (levels[depth - 1] ??= new Map());
        level.set(prefix, (level.get(prefix) ?? false) || depth < names.length || isDirectory);
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
      if (asked.length > 0) await this.#ask(asked, ruleOf, verdicts);
    }
    return new Set(queries.filter(({ path }) => verdicts.get(path)).map(({ path }) => path));
  }

  async #ask(asked: readonly IgnoreQuery[], ruleOf: RuleOf, verdicts: Map<ByteString, boolean>): Promise<void> {
    await this.#lay(asked, ruleOf);
    const process = (this.#process ??= await this.#start());
    const answers = (this.#answers ??= new Answers(process));
    process.idle(false);
    try {
      for (let at = 0; at < asked.length; at += BATCH) {
        const batch = asked.slice(at, at + BATCH);
        process.stdin.write(Buffer.concat(batch.map(({ path }) => bytesOf(`./${path}\0`))));
        const reading = answers.next(batch.length);
        await drained(process.stdin);
        for (const [index, pattern] of (await reading).entries()) {
          const path = batch[index]?.path ?? '';
          verdicts.set(path, pattern !== '' && !pattern.startsWith('!'));
        }
      }
    } catch (error) {
      await this.#reset();
      throw error;
    }
    process.idle(true);
  }

  /** Brings the skeleton to what the questions need. A directory git has seen otherwise makes it start afresh. */
  async #lay(asked: readonly IgnoreQuery[], ruleOf: RuleOf): Promise<void> {
    const needed = new Map<ByteString, Rules | undefined>();
    for (const { path } of asked) {
      for (let directory = parentOf(path); !needed.has(directory); directory = parentOf(directory)) {
        needed.set(directory, await ruleOf(directory));
        if (directory === '') break;
      }
    }
    const isStale = [...needed].some(
      ([directory, rules]) => this.#laid.has(directory) && this.#laid.get(directory) !== rules?.oid,
    );
    if (isStale) await this.#reset();
    const skeleton = (this.#skeleton ??= await this.#makeSkeleton());
    for (const [directory, rules] of needed) {
      if (this.#laid.has(directory)) continue;
      const path = skeletonPath(skeleton, directory);
      mkdirSync(path, { recursive: true });
      if (rules !== undefined) {
        writeFileSync(Buffer.concat([path, Buffer.from('/.gitignore')]), await rulesText(this.#store.reader, rules));
      }
      this.#laid.set(directory, rules?.oid);
    }
    for (const { path, isDirectory } of asked) {
      if (isDirectory) mkdirSync(skeletonPath(skeleton, path), { recursive: true });
    }
  }

  async #makeSkeleton(): Promise<string> {
    const skeleton = join(this.#store.workDirectory, `ignore-${process.pid}-${randomBytes(6).toString('hex')}`);
    await mkdir(join(skeleton, 'tree'), { recursive: true, mode: 0o700 });
    const { text } = await this.#personal.read();
    writeFileSync(join(skeleton, 'personal'), text);
    return skeleton;
  }

  async #start(): Promise<GitProcess> {
    const skeleton = this.#skeleton ?? '';
    const personal = ['-c', `core.excludesFile=${join(skeleton, 'personal')}`];
    const caseRule = ['-c', `core.ignoreCase=${this.#personal.ignoresCase}`];
    const verb = ['check-ignore', '--no-index', '--stdin', '-z', '--verbose', '--non-matching'];
    return this.#store.start(['-c', 'core.bare=false', ...personal, ...caseRule, ...verb], {
      cwd: join(skeleton, 'tree'),
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

async function rulesText(reader: ObjectReader, rules: Rules): Promise<Buffer> {
  const text = rules.text ?? (await reader.blob(rules.oid));
  return text.length > MAX_RULES_BYTES ? Buffer.alloc(0) : text;
}

/** Answers of `check-ignore -z -v -n`: source, line, pattern and path, each ended by a NUL. */
class Answers {
  readonly #process: GitProcess;
  #rest: Buffer = Buffer.alloc(0);
  #patterns: string[] = [];
  #field = 0;
  #isEnded = false;
  #arrived: (() => void) | undefined;

  constructor(process: GitProcess) {
    this.#process = process;
    process.stdout.on('data', (chunk: Buffer) => {
      const buffer = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
      let at = 0;
      for (let end = buffer.indexOf(0); end >= 0; end = buffer.indexOf(0, at)) {
        if (this.#field === 2) this.#patterns.push(buffer.toString('latin1', at, end));
        this.#field = (this.#field + 1) % 4;
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

  /** The patterns that decided the next paths; empty where none did. */
  async next(count: number): Promise<string[]> {
    while (this.#patterns.length < count || this.#field !== 0) {
      if (this.#isEnded) {
        const { code, stderr } = await this.#process.ended;
        throw new Error(`git check-ignore ended with ${code}: ${stderr}`);
      }
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
    return this.#patterns.splice(0, count);
  }
}
