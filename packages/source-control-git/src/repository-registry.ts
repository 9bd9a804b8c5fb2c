import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LitterboxError, RepositoryId, type SandboxId, type SourceRepository } from '@litterbox/core/provider';
import { syncDirectory, writeDurable } from './git/durable-files.ts';
import { KernelLock } from './git/kernel-lock.ts';
import { objectFormat } from './objects/object-format.ts';
import type { GitRunner } from './git/run-git.ts';
import { listSandboxes, sandboxRefs } from './store/sandbox-refs.ts';
import { copyShallow, createStoreDirectory, requireFormat, Store, writeAlternates } from './store/store.ts';
import type { PlainRepository } from './person/plain-repository.ts';
import type { UserRepository } from './person/user-repository.ts';

/** What tells one repository from another, kept as `repository.json` beside its store. */
interface Identity {
  readonly version: 1;
  readonly root: string;
  readonly commonDirectory: string;
  /** Of the common directory, `bornNs` as {@link bornOf} tells it. They survive a move; a copy or another clone has others. */
  readonly device: string;
  readonly inode: string;
  readonly bornNs: string;
  readonly objectFormat: string;
}

/** Which user repositories have a store, in `<stateDirectory>/repos`. Shared by any number of processes. */
export class RepositoryRegistry {
  readonly #git: GitRunner;
  readonly #directory: string;
  #lock: KernelLock | undefined;

  constructor(git: GitRunner, stateDirectory: string) {
    this.#git = git;
    this.#directory = join(stateDirectory, 'repos');
  }

  /** The store of the repository, made when there is none. */
  async storeOf(user: UserRepository, signal?: AbortSignal): Promise<Store> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await mkdir(this.#git.home, { recursive: true, mode: 0o700 });
    const facts = factsOf(user);
    const known = (await this.#find(facts)) ?? (await this.#register(facts, user, signal));
    if (known.identity.root !== facts.root || known.identity.commonDirectory !== facts.commonDirectory) {
      // Moved, or another work tree of it was opened last.
      await writeDurable(this.#identityPath(known.id), JSON.stringify({ ...known.identity, ...facts }));
    }
    const store = new Store(this.#git, known.id, join(this.#directory, known.id), user.format);
    // A store without its directories is said to be corrupt by who reads a history; listing what there is works without.
    if (existsSync(join(store.gitDirectory, 'objects', 'info'))) {
      await writeAlternates(store.gitDirectory, join(user.commonDirectory, 'objects'));
      await copyShallow(store.gitDirectory, user.commonDirectory);
    }
    return store;
  }

  async *list(): AsyncGenerator<{ readonly id: RepositoryId; readonly root: string }, void, undefined> {
    for (const { id, identity } of registered(this.#directory)) yield { id, root: identity.root };
  }

  /** Stores of repositories that were at that place and are gone: nothing is there, or another repository. */
  async *left(path: string): AsyncGenerator<Left, void, undefined> {
    const place = resolve(path);
    const real = join(await realpath(dirname(place)).catch(() => dirname(place)), basename(place));
    for (const { id, identity } of registered(this.#directory))
      if (identity.root === real && isGone(identity))
        yield { id, remove: (sandbox) => this.#removeLeft(id, identity, sandbox) };
  }

  /** The store goes with its last sandbox. */
  async #removeLeft(id: RepositoryId, { objectFormat: name }: Identity, sandbox: SandboxId): Promise<void> {
    await using store = new Store(this.#git, id, join(this.#directory, id), requireFormat(name));
    const isEmpty = await store.lock.hold('sandbox.remove', async () => {
      const { meta, root } = sandboxRefs(sandbox);
      await store.refs.remove(meta);
      await store.refs.remove(root);
      return (await listSandboxes(store)).length === 0;
    });
    if (isEmpty) await rm(store.directory, { recursive: true, force: true });
  }

  close(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }

  async #register(facts: Identity, user: UserRepository, signal: AbortSignal | undefined) {
    this.#lock ??= new KernelLock(join(this.#directory, 'registry.lock'));
    return this.#lock.hold(
      'repository.open',
      async () => {
        const other = await this.#find(facts); // another process may have been faster
        if (other) return other;
        await this.#removeNobodys();
        const id = RepositoryId.make();
        const directory = join(this.#directory, id);
        await mkdir(directory, { mode: 0o700 });
        await createStoreDirectory(directory, user.format, join(user.commonDirectory, 'objects'));
        // Last: without it the directory is nobody's, and a killed process leaves just that.
        await writeDurable(this.#identityPath(id), JSON.stringify(facts));
        await syncDirectory(this.#directory);
        return { id, identity: facts };
      },
      { signal },
    );
  }

  /** Stores without a name. Who makes one holds the lock, which we hold: its maker was killed. */
  async #removeNobodys(): Promise<void> {
    for (const id of await readdir(this.#directory)) {
      if (!RepositoryId.is(id) || existsSync(this.#identityPath(id))) continue;
      await rm(join(this.#directory, id), { recursive: true, force: true });
    }
  }

  async #find(facts: Identity) {
    const all = registered(this.#directory);
    const same = all.find(({ identity }) => isSame(identity, facts));
    if (same) return same;
    // Restored from a backup or cloned anew at the same place. Its store counts as long as the repository has its commits. Without a
    // sandbox nothing says that it is the same: it begins anew, also with what a person has agreed to.
    for (const candidate of all) {
      if (candidate.identity.commonDirectory !== facts.commonDirectory) continue;
      if (candidate.identity.objectFormat !== facts.objectFormat) continue;
      if (await this.#hasPins(candidate.id, facts.commonDirectory)) return candidate;
    }
    return undefined;
  }

  async #hasPins(id: RepositoryId, commonDirectory: string): Promise<boolean> {
    const refs = join(this.#directory, id, 'store.git', 'refs', 'litterbox');
    const sandboxes = await readdir(refs).catch(() => [] as string[]);
    const pins: string[] = [];
    for (const sandbox of sandboxes) {
      const pin = await readFile(join(refs, sandbox, 'pin'), 'latin1').catch(() => '');
      if (pin !== '') pins.push(pin.trim());
    }
    if (pins.length === 0) return false;
    const { stdout } = await this.#git.run({
      setting: 'sealed',
      gitDirectory: commonDirectory,
      cwd: commonDirectory,
      args: ['-c', 'safe.directory=*', 'cat-file', '--batch-check'],
      input: `${pins.join('\n')}\n`,
    });
    return !stdout.toString().includes(' missing\n');
  }

  #identityPath(id: RepositoryId): string {
    return identityPath(this.#directory, id);
  }
}

function factsOf(user: PlainRepository): Identity {
  return {
    version: 1,
    root: user.root,
    commonDirectory: user.commonDirectory,
    ...birthOf(user.commonDirectory),
    objectFormat: user.format.name,
  };
}

const identityPath = (directory: string, id: string) => join(directory, id, 'repository.json');

interface Registered {
  readonly id: RepositoryId;
  readonly identity: Identity;
}

function registered(directory: string): readonly Registered[] {
  let names: string[] = [];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return names
    .toSorted((a, b) => (a < b ? -1 : 1))
    .flatMap((id) => {
      if (!RepositoryId.is(id)) return [];
      let text: string;
      try {
        text = readFileSync(identityPath(directory, id), 'utf8');
      } catch {
        if (holdsSandboxes(join(directory, id))) throw damaged(directory, id);
        return []; // its maker was killed
      }
      return [{ id, identity: parseIdentity(text, directory, id) }];
    });
}

/**
 * The id of a repository that was opened before and is still what it was, and where; undefined for every other one.
 *
 * @param directory where the stores are
 */
export function registeredId(directory: string, user: PlainRepository): RepositoryId | undefined {
  const facts = factsOf(user);
  const found = registered(directory).find(({ identity }) => isSame(identity, facts));
  if (!found) return undefined;
  const { root, commonDirectory, objectFormat: name } = found.identity;
  const isWhereItWas = root === facts.root && commonDirectory === facts.commonDirectory;
  return isWhereItWas && name === facts.objectFormat ? found.id : undefined;
}

/** A repository that is gone, as far as histories of it are left. */
type Left = Pick<SourceRepository, 'id' | 'remove'>;

/** What tells a directory from another one that is at its place later. */
type Birth = Pick<Identity, 'device' | 'inode' | 'bornNs'>;

function birthOf(commonDirectory: string): Birth {
  const { dev, ino, birthtimeNs } = statSync(commonDirectory, { bigint: true });
  return { device: String(dev), inode: String(ino), bornNs: bornOf(commonDirectory, birthtimeNs) };
}

const isSame = (one: Birth, other: Birth) =>
  one.device === other.device && one.inode === other.inode && one.bornNs === other.bornNs;

function isGone(identity: Identity): boolean {
  try {
    return !isSame(identity, birthOf(identity.commonDirectory));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return true;
    throw error;
  }
}

/**
 * When a repository was made, in nanoseconds. Some file systems do not keep it, and give the number of a directory that was removed to the
 * next one: there the file `description` stands in, which git writes then and never again. Where that is gone too, nothing tells.
 *
 * @param birthtimeNs of the common directory; 0 where the file system does not keep it
 */
export function bornOf(commonDirectory: string, birthtimeNs: bigint): string {
  if (birthtimeNs !== 0n) return String(birthtimeNs);
  const written = statSync(join(commonDirectory, 'description'), { bigint: true, throwIfNoEntry: false });
  return written ? `description ${written.mtimeNs}` : '0';
}

/** A store that somebody used is never taken for what a killed maker left, which is removed. */
function holdsSandboxes(store: string): boolean {
  const refs = join(store, 'store.git', 'refs', 'litterbox');
  return existsSync(refs) && readdirSync(refs).length > 0;
}

function parseIdentity(text: string, directory: string, id: RepositoryId): Identity {
  try {
    const parsed = JSON.parse(text) as Identity;
    if (parsed.version === 1 && typeof parsed.root === 'string' && objectFormat(parsed.objectFormat)) return parsed;
  } catch {
    // reported below
  }
  throw damaged(directory, id);
}

function damaged(directory: string, id: RepositoryId): LitterboxError {
  const path = identityPath(directory, id);
  return new LitterboxError('STORE_CORRUPT', `The record of a repository, "${path}", is missing or damaged.`, {
    operation: 'repository.open',
    hint: 'Restore it from a backup, or move its directory away: the sandboxes of that repository are then not found.',
    facts: { repository: id },
  });
}
