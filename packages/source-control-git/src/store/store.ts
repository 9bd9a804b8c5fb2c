import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { LitterboxError, type ObjectId, type RepositoryId } from '@litterbox/core/provider';
import { syncDirectory, writeDurable } from '../git/durable-files.ts';
import { KernelLock } from '../git/kernel-lock.ts';
import { type ObjectFormat, objectFormat } from '../objects/object-format.ts';
import { ObjectReader } from '../objects/object-reader.ts';
import { ObjectSink } from '../objects/object-sink.ts';
import { RefFiles } from '../objects/ref-files.ts';
import { RevisionJournal } from '../objects/revision-journal.ts';
import type { GitCall, GitProcess, GitResult, GitRunner } from '../git/run-git.ts';

/** git follows alternates of alternates five deep. */
const MAX_ALTERNATE_DEPTH = 5;

/** The private bare repository that holds all revisions of one user repository, and the files beside it. */
export class Store implements AsyncDisposable {
  readonly id: RepositoryId;
  readonly directory: string;
  readonly gitDirectory: string;
  readonly format: ObjectFormat;
  readonly git: GitRunner;
  readonly reader: ObjectReader;
  readonly refs: RefFiles;
  readonly journal: RevisionJournal;
  /** Held for the milliseconds of a change of refs. */
  readonly lock: KernelLock;
  /** Held while the user's repository is changed. Taken before `lock`, never after. */
  readonly userLock: KernelLock;

  constructor(git: GitRunner, id: RepositoryId, directory: string, format: ObjectFormat) {
    this.git = git;
    this.id = id;
    this.directory = directory;
    this.gitDirectory = join(directory, 'store.git');
    this.format = format;
    this.reader = new ObjectReader(git, this.gitDirectory, format);
    this.refs = new RefFiles(this.gitDirectory);
    this.journal = new RevisionJournal(join(directory, 'revisions.journal'));
    this.lock = new KernelLock(join(directory, 'store.lock'));
    this.userLock = new KernelLock(join(directory, 'user.lock'));
  }

  get workDirectory(): string {
    return join(this.directory, 'work');
  }

  sink(): ObjectSink {
    return new ObjectSink(this.gitDirectory, this.format, this.reader);
  }

  run(args: readonly string[], options?: Partial<GitCall>): Promise<GitResult> {
    return this.git.run(this.call(args, options));
  }

  output(args: readonly string[], options?: Partial<GitCall>): Promise<Buffer> {
    return this.git.output(this.call(args, options));
  }

  stream(args: readonly string[], options?: Partial<GitCall>): AsyncGenerator<Buffer, void, undefined> {
    return this.git.stream(this.call(args, options));
  }

  start(args: readonly string[], options?: Partial<GitCall>): Promise<GitProcess> {
    return this.git.start(this.call(args, options));
  }

  call(args: readonly string[], options?: Partial<GitCall>): GitCall {
    return {
      setting: 'sealed',
      gitDirectory: this.gitDirectory,
      cwd: this.gitDirectory,
      ...options,
      args,
      // Attributes in a tree are an agent's words; git before 2.41 reads none in a bare repository.
      environment: { GIT_ATTR_SOURCE: this.format.emptyTree, ...options?.environment },
    };
  }

  /** Writes objects and returns what `write` returned, durable. */
  async put<T>(write: (sink: ObjectSink) => T | Promise<T>): Promise<T> {
    using sink = this.sink();
    const result = await write(sink);
    await sink.finish();
    return result;
  }

  async commitTree(oid: ObjectId): Promise<ObjectId> {
    return (await this.reader.commit(oid)).tree;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reader[Symbol.asyncDispose]();
    this.journal.close();
    this.lock.close();
    this.userLock.close();
  }
}

/** Makes `store.git` in a directory that has none yet. Written by hand: `git init` would copy templates and ask the environment. */
export async function createStoreDirectory(
  directory: string,
  format: ObjectFormat,
  userObjects: string,
): Promise<void> {
  const final = join(directory, 'store.git');
  const temporary = join(directory, `store.git.${randomBytes(6).toString('hex')}`);
  await mkdir(join(temporary, 'objects', 'info'), { recursive: true, mode: 0o700 });
  await mkdir(join(temporary, 'objects', 'pack'), { mode: 0o700 });
  await mkdir(join(temporary, 'refs'), { mode: 0o700 });
  const isSha256 = format.name === 'sha256';
  await writeDurable(
    join(temporary, 'config'),
    [
      '[core]',
      `\trepositoryFormatVersion = ${isSha256 ? 1 : 0}`,
      '\tbare = true',
      '\tlogAllRefUpdates = false',
      ...(isSha256 ? ['[extensions]', '\tobjectFormat = sha256'] : []),
      '',
    ].join('\n'),
  );
  await writeDurable(join(temporary, 'HEAD'), 'ref: refs/heads/none\n');
  await writeAlternates(temporary, userObjects);
  await rename(temporary, final).catch(async (error: NodeJS.ErrnoException) => {
    await rm(temporary, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await syncDirectory(directory);
}

/**
 * Lets the store read the user's objects. Alternates of the user's own are listed too, made absolute: git ignores
 * relative ones below the first level.
 */
export async function writeAlternates(gitDirectory: string, userObjects: string): Promise<void> {
  const found = new Set<string>();
  await collectAlternates(userObjects, found, 0);
  const lines = [...found].map((path) => (/^["#]|\n/.test(path) ? JSON.stringify(path) : path));
  const path = join(gitDirectory, 'objects', 'info', 'alternates');
  const text = `${lines.join('\n')}\n`;
  if ((await readFile(path, 'utf8').catch(() => undefined)) !== text) await writeDurable(path, text);
}

/** Where a shallow clone ends: without it git would look for the parents that are not there. */
export async function copyShallow(gitDirectory: string, userDirectory: string): Promise<void> {
  const text = await readFile(join(userDirectory, 'shallow'), 'latin1').catch(() => undefined);
  const path = join(gitDirectory, 'shallow');
  if (text === (await readFile(path, 'latin1').catch(() => undefined))) return;
  if (text === undefined) await rm(path, { force: true });
  else await writeDurable(path, text);
}

async function collectAlternates(objects: string, found: Set<string>, depth: number): Promise<void> {
  if (found.has(objects) || depth > MAX_ALTERNATE_DEPTH) return;
  found.add(objects);
  const text = await readFile(join(objects, 'info', 'alternates'), 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#') || line.startsWith('"')) continue;
    await collectAlternates(isAbsolute(line) ? line : resolve(objects, line), found, depth + 1);
  }
}

export function requireFormat(name: string): ObjectFormat {
  const format = objectFormat(name);
  if (format) return format;
  throw new LitterboxError('UNSUPPORTED', `The repository names its objects by ${name}.`, {
    operation: 'repository.open',
    hint: 'Use a repository with SHA-1 or SHA-256 objects.',
  });
}
