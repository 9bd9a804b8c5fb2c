import { lstat, mkdir, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LitterboxError, shown, type Slug } from '@litterbox/core/provider';
import { removeExport } from './remove-export.ts';
import { readHistories } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

const OURS = '.litterbox';
/** Relative to the root of the work tree. */
const PLACE = join(OURS, 'worktrees');

/**
 * Where exported trees are: in the state directory, with links that lead there from the work tree.
 *
 * Programs that look through the work tree follow no link, most of them: jest, eslint, prettier, tsc, pytest. vitest does (tinyglobby), and
 * takes a link for a loop that it meets on the way through another one, where the one's target begins like the other's. So there are two
 * links, and `worktrees-files` is called what it is called.
 */
export class ExportPlace {
  readonly #store: Store;
  readonly #user: UserRepository;

  constructor(store: Store, user: UserRepository) {
    this.#store = store;
    this.#user = user;
  }

  /** Where the files of all trees are. */
  get files(): string {
    return join(this.#store.directory, 'worktrees-files');
  }

  get #links(): string {
    return join(this.#store.directory, 'worktrees');
  }

  get #place(): string {
    return join(this.#user.root, PLACE);
  }

  /** @throws LitterboxError `PERMISSION_DENIED` when something else is where our link belongs. */
  async prepare(): Promise<void> {
    const above = await lstat(join(this.#user.root, OURS)).catch(() => undefined);
    if (above && !above.isDirectory()) throw refused(OURS, 'is a link or a file');
    await this.#clearEarlier();
    if (!(await this.#isLinked()) && (await lstat(this.#place).catch(() => undefined)))
      throw refused(PLACE, 'holds what is not ours, or leads elsewhere');
    for (const directory of [this.files, this.#links]) await mkdir(directory, { recursive: true, mode: 0o700 });
  }

  /** @returns the way to the tree, within the work tree */
  async link(slug: Slug): Promise<string> {
    const fresh = join(this.files, `.${slug}-link`);
    await rm(fresh, { force: true });
    await symlink(join(this.files, slug), fresh);
    await rename(fresh, join(this.#links, slug));
    if (!(await this.#isLinked())) {
      await mkdir(join(this.#user.root, OURS), { recursive: true, mode: 0o700 });
      await symlink(this.#links, this.#place);
    }
    return join(this.#place, slug);
  }

  /** What there is of a tree, one that was begun too. Nothing when there is none. */
  async remove(slug: Slug): Promise<void> {
    await rm(join(this.#links, slug), { force: true });
    await rm(join(this.files, `.${slug}-link`), { force: true });
    const names = await readdir(this.files).catch(() => [] as string[]);
    const begun = names.filter((name) => name.startsWith(`.${slug}-`) && !name.slice(slug.length + 2).includes('-'));
    for (const name of [slug, ...begun]) await removeExport(join(this.files, name));
    if (await this.#isEarlier()) await removeExport(join(this.#place, slug));
  }

  async #isLinked(): Promise<boolean> {
    return (await readlink(this.#place).catch(() => undefined)) === this.#links;
  }

  /** Whether trees are where an earlier release wrote them: in the work tree itself. */
  async #isEarlier(): Promise<boolean> {
    for (const path of [join(this.#user.root, OURS), this.#place])
      if (!(await lstat(path).catch(() => undefined))?.isDirectory()) return false;
    return true;
  }

  /** Takes an earlier release's trees out of the work tree, and leaves what it does not know. */
  async #clearEarlier(): Promise<void> {
    if (!(await this.#isEarlier())) return;
    for await (const { slug } of readHistories(this.#store)) await removeExport(join(this.#place, slug));
    await rmdir(this.#place).catch(() => {}); // somebody else's files are in it, which the caller tells
  }
}

function refused(path: string, how: string): LitterboxError {
  return new LitterboxError('PERMISSION_DENIED', `${shown(path)} ${how}; a link of ours belongs there.`, {
    operation: 'tree.export',
    hint: 'Move it away.',
  });
}
