import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Asker,
  type ChangedPath,
  decodeRaw,
  type DirectoryChild,
  encodeRaw,
  type FileType,
  type RecordRequest,
  type RevisionResult,
  SandboxId,
  type Slug,
  slugify,
  type SourceControl,
  type SourceRepository,
} from '@litterbox/core/provider';
import { git } from '../src/index.ts';
import { TAR_END, tarHeader, tarPadding } from '../src/objects/tar-writer.ts';

/** A machine for one test: a home, a state directory, repositories. All of it goes with `await using`. */
export class GitFixture implements AsyncDisposable {
  readonly directory = mkdtempSync(join(process.env['TMPDIR'] ?? tmpdir(), 'scg-'));
  readonly home = join(this.directory, 'home');
  readonly state = join(this.directory, 'state');
  readonly environment: Record<string, string>;
  readonly #controls: SourceControl[] = [];

  constructor() {
    mkdirSync(this.home);
    this.environment = { PATH: '/usr/bin:/bin', HOME: this.home };
    this.git(this.directory, 'config', '--global', 'user.name', 'Ada');
    this.git(this.directory, 'config', '--global', 'user.email', 'ada@example.test');
    this.git(this.directory, 'config', '--global', 'init.defaultBranch', 'main');
  }

  control(): SourceControl {
    const control = git({ stateDirectory: this.state, environment: this.environment });
    this.#controls.push(control);
    return control;
  }

  /** git as the person runs it. */
  git(cwd: string, ...args: string[]): string {
    return execFileSync('git', args, { cwd, env: this.environment, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
  }

  gitBytes(cwd: string, args: readonly string[], input?: string | Uint8Array): Buffer {
    return execFileSync('git', args, { cwd, env: this.environment, ...(input === undefined ? {} : { input }) });
  }

  /** A repository with the files committed; contents ending in `*` names are executable when given as tuple. */
  repository(files: Readonly<Record<string, string>>, name = 'repo', ...init: string[]): string {
    const root = join(this.directory, name);
    mkdirSync(root, { recursive: true });
    this.git(root, 'init', '-q', ...init);
    for (const [path, content] of Object.entries(files)) put(root, path, content);
    this.git(root, 'add', '-A', '-f');
    this.git(root, 'commit', '-q', '--allow-empty', '-m', 'first');
    return root;
  }

  async open(root: string, asker?: Asker): Promise<SourceRepository> {
    return this.control().open(root, asker && { asker });
  }

  /** Makes the person sign what they commit, with a key of SSH. */
  sign(root: string): void {
    const key = join(this.directory, 'key');
    execFileSync('ssh-keygen', ['-qt', 'ed25519', '-N', '', '-f', key]);
    for (const [name, value] of [
      ['gpg.format', 'ssh'],
      ['user.signingKey', key],
      ['commit.gpgSign', 'true'],
    ] as const)
      this.git(root, 'config', name, value);
  }

  /** How many of the commits that `revision` names are signed. */
  signatures(root: string, ...revision: readonly string[]): number {
    const commits = this.git(root, 'rev-list', ...(revision[0] === 'HEAD' ? ['-1'] : []), ...revision)
      .trimEnd()
      .split('\n');
    return commits.filter((commit) => /^gpgsig/m.test(this.git(root, 'cat-file', 'commit', commit))).length;
  }

  storeOf(repository: SourceRepository): string {
    return join(this.state, 'repos', repository.id, 'store.git');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const control of this.#controls) await control[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A git that writes down what it is asked. */
export function listeningGit(fixture: GitFixture) {
  const [path, log] = [join(fixture.directory, 'listening-git'), join(fixture.directory, 'asked')];
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$*" >>'${log}'\nexec git "$@"\n`);
  chmodSync(path, 0o755);
  const asked = async (work: () => Promise<unknown>): Promise<string> => {
    writeFileSync(log, '');
    await work();
    return readFileSync(log, 'utf8');
  };
  return { path, asked };
}

export function put(root: string, path: string, content: string | Uint8Array): void {
  const at = join(root, path);
  mkdirSync(join(at, '..'), { recursive: true });
  execFileSync('tee', ['--', at], { input: content, stdio: ['pipe', 'ignore', 'inherit'] });
  chmodSync(at, 0o644);
}

export const slug = (name: string): Slug => slugify(name).slug;

/** What an agent's workspace holds: raw names (text as in raw-text.ts) to entries. */
export type Files = Record<string, Entry | string>;
export type Entry =
  | { readonly type: 'file'; readonly content: Uint8Array; readonly executable?: boolean }
  | { readonly type: 'symlink'; readonly target: string }
  | { readonly type: 'special' }
  | { readonly type: 'empty-directory' };

const entryOf = (entry: Entry | string): Entry =>
  typeof entry === 'string' ? { type: 'file', content: Buffer.from(entry) } : entry;

/** Everything in a workspace as a scan since the base reports it. */
export function scan(files: Files): ChangedPath[] {
  const directories = new Map<string, Map<string, FileType>>([['', new Map()]]);
  const changes: ChangedPath[] = [];
  for (const [path, value] of Object.entries(files)) {
    const entry = entryOf(value);
    const names = path.split('/');
    for (let depth = 1; depth <= names.length; depth++) {
      const parent = names.slice(0, depth - 1).join('/');
      const isLast = depth === names.length;
      const type: FileType = !isLast || entry.type === 'empty-directory' ? 'directory' : entry.type;
      if (!directories.has(parent)) directories.set(parent, new Map());
      directories.get(parent)?.set(names[depth - 1] ?? '', type);
    }
    if (entry.type === 'file') {
      const { content, executable = false } = entry;
      changes.push({ type: 'file', path, sizeBytes: content.length, executable });
    } else if (entry.type !== 'empty-directory') changes.push({ type: entry.type, path });
    else if (!directories.has(path)) directories.set(path, new Map());
  }
  for (const [path, children] of directories) {
    const list: DirectoryChild[] = [...children].map(([name, type]) => ({ name, type }));
    changes.push({ type: 'directory', path, children: list });
  }
  return changes;
}

const latin1 = (text: string) => Buffer.from(encodeRaw(text)).toString('latin1');

export function tarOf(files: Files, paths: AsyncIterable<string>): ReadableStream<Uint8Array> {
  return ReadableStream.from(
    (async function* () {
      for await (const path of paths) {
        const value = files[path];
        if (value === undefined) continue;
        const entry = entryOf(value);
        const name = latin1(path);
        if (entry.type === 'symlink') {
          yield tarHeader({ type: 'symlink', name, mode: 0o777, linkTarget: latin1(entry.target) });
        } else if (entry.type === 'file') {
          yield tarHeader({ type: 'file', name, mode: 0o644, sizeBytes: entry.content.length });
          yield entry.content;
          yield tarPadding(entry.content.length);
        }
      }
      yield TAR_END;
    })(),
  );
}

async function* each<T>(values: Iterable<T>): AsyncGenerator<T, void, undefined> {
  yield* values;
}

export function request(files: Files, changes: Iterable<ChangedPath> = scan(files), subject = 'a step'): RecordRequest {
  return {
    changes: each(changes),
    contents: (paths) => tarOf(files, paths),
    message: { subject, trailers: [['Tool', 'bash']] },
  };
}

/** Records the whole of a workspace. */
export function record(
  repository: SourceRepository,
  id: SandboxId,
  files: Files,
  subject?: string,
): Promise<RevisionResult> {
  const asked = request(files);
  return repository.record(id, subject === undefined ? asked : { ...asked, message: { subject, trailers: [] } });
}

export async function begin(
  repository: SourceRepository,
  name = 'work',
  source: Parameters<SourceRepository['base']>[0] = { type: 'head' },
): Promise<SandboxId> {
  const id = SandboxId.make();
  await repository.begin({ id, slug: slug(name), base: await repository.base(source) });
  return id;
}

export async function text(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

export async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

/** Every file below a directory: type, mode and content. */
export function snapshot(root: string, ignored: (path: string) => boolean = () => false): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (directory: Buffer, prefix: string) => {
    for (const name of readdirSync(directory, { encoding: 'buffer' })) {
      const at = Buffer.concat([directory, Buffer.from('/'), name]);
      const path = prefix + decodeRaw(name);
      if (ignored(path)) continue;
      const stat = lstatSync(at);
      if (stat.isDirectory()) {
        found[`${path}/`] = 'directory';
        visit(at, `${path}/`);
      } else if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(at)}`;
      else found[path] = `${(stat.mode & 0o777).toString(8)} ${readFileSync(at).toString('latin1')}`;
    }
  };
  visit(Buffer.from(root), '');
  return found;
}
