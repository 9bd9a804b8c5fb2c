import { randomUUID } from 'node:crypto';
import { copyFile, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LitterboxError, type ObjectId, failpoint } from '@litterbox/core/provider';
import { bytesOf } from '../git/byte-text.ts';
import { syncDirectory, writeDurable } from '../git/durable-files.ts';
import { readTreeFilters, withoutFilters } from '../person/external-filters.ts';
import { clearJournal, type IntegrationRecord, writeJournal } from './integration-journal.ts';
import { pathList } from '../person/marked-files.ts';
import type { ConflictStage } from '../publish/merge-trees.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { lockedBy } from '../plan/user-state.ts';
import { reserveRoom } from './work-tree-room.ts';
import { indexInfo, updateWorkTree } from './work-tree-update.ts';

export const stashRef = 'refs/litterbox/autostash';

/** The steps of an apply or merge in the user's repository. Each may be the last one a killed process made. */
export class Integration {
  readonly #store: Store;
  readonly #user: UserRepository;
  #record: IntegrationRecord;

  constructor(store: Store, user: UserRepository, record: IntegrationRecord) {
    this.#store = store;
    this.#user = user;
    this.#record = record;
  }

  get #lockPath(): string {
    return join(this.#user.gitDirectory, 'index.lock');
  }

  get #indexPath(): string {
    return join(this.#user.gitDirectory, 'index');
  }

  /** An index of what was there before. */
  get #oldIndexPath(): string {
    return `${this.#record.nextIndex}.old`;
  }

  get #reservePath(): string {
    return `${this.#record.nextIndex}.reserve`;
  }

  /** The files of the steps as they were. */
  get #before(): ObjectId {
    return this.#record.from ?? this.#record.head;
  }

  async phase(phase: IntegrationRecord['phase']): Promise<void> {
    this.#record = { ...this.#record, phase };
    await writeJournal(this.#store, this.#record);
  }

  /** Takes uncommitted work of tracked files out of the work tree. It is in `stash`, which a ref keeps. */
  async stash(): Promise<void> {
    const { stash } = this.#record;
    if (stash === undefined) return;
    await this.#user.output(['update-ref', stashRef, stash]);
    failpoint('stash.after-ref');
    await this.phase('stashing');
    failpoint('stash.after-journal');
    await this.#user.plumbing.output(['reset', '-q', '--hard', 'HEAD'], { setting: 'user' });
    failpoint('stash.after-reset');
  }

  /** Locks the index as git does, with a file that says whose it is. @throws LitterboxError `USER_REPO_LOCKED`. */
  async lock(): Promise<void> {
    const temporary = `${this.#record.nextIndex}.lock`;
    try {
      // Flushed first: after a power cut an empty lock would be nobody's, and the person's to remove.
      await writeFile(temporary, this.#record.marker, { flag: 'w', flush: true });
      await link(temporary, this.#lockPath);
      failpoint('integrate.after-link');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const found = await stat(this.#lockPath).catch(() => undefined);
      throw lockedBy(this.#lockPath, found?.mtimeMs ?? Date.now());
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** What undoing needs, made before the first file is written: on a full disk it could not be made any more. */
  async prepareRollBack(): Promise<void> {
    await reserveRoom(this.#reservePath, this.#indexPath);
    await this.#user.plumbing.output(['read-tree', this.#before], {
      environment: { GIT_INDEX_FILE: this.#oldIndexPath },
    });
    failpoint('integrate.after-old-index');
  }

  async updateFiles(stages: readonly ConflictStage[], signal: AbortSignal | undefined): Promise<void> {
    const { nextIndex, steps } = this.#record;
    const zero = '0'.repeat(this.#store.format.byteLength * 2);
    const options = { environment: { GIT_INDEX_FILE: nextIndex }, signal };
    await copyFile(this.#indexPath, nextIndex).catch(async () => {
      await this.#user.plumbing.output(['read-tree', 'HEAD'], options);
    });
    const input = indexInfo(steps, zero);
    await this.#user.plumbing.output(['update-index', '-z', '--index-info'], { ...options, input });
    failpoint('integrate.after-next-index');
    await updateWorkTree(this.#user, this.#onDisk(steps), nextIndex, 'first', signal);
    await this.#mark(nextIndex);
    if (stages.length === 0) return;
    const lines = [...new Set(stages.map(({ path }) => path))].map((path) => `0 ${zero}\t${path}\0`);
    lines.push(...stages.map(({ mode, oid, stage, path }) => `${mode} ${oid} ${stage}\t${path}\0`));
    await this.#user.plumbing.output(['update-index', '-z', '--index-info'], {
      ...options,
      input: bytesOf(lines.join('')),
    });
  }

  /** Those whose files are in the work tree. */
  #onDisk(steps: readonly PathStep[]): readonly PathStep[] {
    const leftOut = new Set(this.#record.leftOut);
    return steps.filter(({ path }) => !leftOut.has(path));
  }

  /** Sets the marks again that an entry loses when it is written, and those of files that are left out. */
  async #mark(index: string): Promise<void> {
    const { steps, leftOut, marks: { assumedUnchanged = [], skipped = [] } = {} } = this.#record;
    const out = new Set(leftOut);
    const stayOut = steps.filter((step) => step.new && out.has(step.path)).map(({ path }) => path);
    for (const [mark, paths] of [
      ['--assume-unchanged', assumedUnchanged],
      ['--skip-worktree', [...skipped, ...stayOut]],
    ] as const) {
      if (paths.length === 0) continue;
      const input = pathList(paths);
      await this.#user.plumbing.output(['update-index', mark, '-z', '--stdin'], {
        environment: { GIT_INDEX_FILE: index },
        input,
      });
    }
  }

  /** HEAD first: it alone can refuse. Then the conflict's files, then the index. Can be repeated. */
  async finish(): Promise<void> {
    const { head, newHead, nextIndex, stateFiles, slug, integration } = this.#record;
    if (newHead !== undefined) {
      const now = (await this.#user.text(['rev-parse', '--verify', 'HEAD'])) as ObjectId;
      if (now !== newHead) {
        await this.#user.output(['update-ref', '-m', `litterbox: ${integration} ${slug}`, 'HEAD', newHead, head], {
          setting: 'user',
        });
      }
    }
    failpoint('integrate.after-head');
    for (const [name, content] of Object.entries(stateFiles)) {
      await writeDurable(join(this.#user.gitDirectory, name), content);
    }
    const isPending = await stat(nextIndex).catch(() => undefined);
    if (isPending) await rename(nextIndex, this.#indexPath);
    await syncDirectory(this.#user.gitDirectory);
    failpoint('integrate.after-index');
    await this.unlock();
  }

  /** Removes the lock if it is ours. */
  async unlock(): Promise<void> {
    const content = await readFile(this.#lockPath, 'latin1').catch(() => undefined);
    if (content === this.#record.marker) await rm(this.#lockPath, { force: true });
    // git's own temporary files beside it, should a child have been killed.
    await rm(`${this.#record.nextIndex}.lock`, { force: true });
  }

  /**
   * Puts the stash back on top of the result. Where that fails it is kept in the person's own stash list, and the
   * paths in conflict are returned.
   */
  async unstash(): Promise<readonly string[] | undefined> {
    const { stash, keepsStash } = this.#record;
    let conflicts: readonly string[] | undefined;
    if (stash !== undefined && !keepsStash) {
      const applied = await this.#user.plumbing.run(['stash', 'apply', '-q', stash], { setting: 'user' });
      if (applied.code !== 0) {
        await this.#user.plumbing.output(['stash', 'store', '-q', '-m', 'litterbox autostash', stash], {
          setting: 'user',
        });
        const unmerged = await this.#user.plumbing.output(['diff', '--name-only', '-z', '--diff-filter=U'], {
          setting: 'user',
        });
        conflicts = unmerged.toString().split('\0').filter(Boolean);
      }
    }
    if (stash !== undefined) await this.#user.run(['update-ref', '-d', stashRef, stash]);
    return conflicts;
  }

  async close(): Promise<void> {
    const { nextIndex } = this.#record;
    const old = this.#oldIndexPath;
    for (const path of [nextIndex, old, `${old}.lock`, `${old}.new`, `${old}.new.lock`, this.#reservePath])
      await rm(path, { force: true });
    await clearJournal(this.#store);
  }

  /** Ends an integration that wrote no file yet. */
  async release(): Promise<void> {
    this.#record = { ...this.#record, keepsStash: false };
    await this.unstash();
    await this.close();
  }

  /** Undoes `updating`. A file that is neither old nor new is copied to `rescued` first. */
  async rollBack(): Promise<readonly string[]> {
    const { steps } = this.#record;
    const index = this.#oldIndexPath;
    const options = { environment: { GIT_INDEX_FILE: index } };
    await rm(this.#reservePath, { force: true });
    await rm(`${index}.lock`, { force: true });
    // Made anew where that is possible: after a power cut the one that was made before may have lost its content.
    await this.#user.plumbing.output(['read-tree', this.#before], options).catch(async (error: unknown) => {
      const made = await stat(index).catch(() => undefined);
      if (!made || made.size === 0) throw error;
    });
    const rescued = await this.#rescue(index);
    const backwards = steps.map(({ path, old, new: next }) => ({
      path,
      ...(next ? { old: next } : {}),
      ...(old ? { new: old } : {}),
    }));
    await updateWorkTree(this.#user, this.#onDisk(backwards), index, 'last', undefined);
    await this.unlock();
    // Times of the files changed: without this every git status would read them.
    await this.#user.plumbing.run(['update-index', '-q', '--refresh'], { setting: 'user' });
    await this.release();
    return rescued;
  }

  async #rescue(oldIndex: string): Promise<readonly string[]> {
    const isOdd = new Set(this.#record.steps.map(({ path }) => path));
    // The tree may hold programs of an agent's now: without their filters more files look odd, and are kept.
    const plain = withoutFilters(await readTreeFilters(this.#user, undefined));
    for (const [name, index] of [
      ['old', oldIndex],
      ['new', `${oldIndex}.new`],
    ] as const) {
      const options = { setting: 'user', environment: { GIT_INDEX_FILE: index } } as const;
      if (name === 'new') {
        await copyFile(oldIndex, index);
        const input = indexInfo(this.#record.steps, '0'.repeat(this.#store.format.byteLength * 2));
        await this.#user.plumbing.output(['update-index', '-z', '--index-info'], { ...options, input });
      }
      await this.#user.plumbing.run([...plain, 'update-index', '-q', '--refresh'], options);
      const args = [...plain, 'diff-files', '-z', '--name-only', '--ignore-submodules=all'];
      const differing = new Set((await this.#user.plumbing.output(args, options)).toString('latin1').split('\0'));
      const listed = new Set(
        (await this.#user.plumbing.output(['ls-files', '-z'], options)).toString('latin1').split('\0'),
      );
      // What an index does not list differs from it by being there.
      for (const path of isOdd) if (listed.has(path) && !differing.has(path)) isOdd.delete(path);
      if (name === 'new') await rm(index, { force: true });
    }
    const rescued: string[] = [];
    for (const path of isOdd) {
      const target = join(this.#store.directory, 'rescued', randomUUID());
      const source = Buffer.concat([Buffer.from(`${this.#user.root}/`), bytesOf(path)]);
      const found = await stat(source).catch(() => undefined);
      if (!found?.isFile()) continue;
      await writeRescued(target, source);
      rescued.push(`${basename(target)}: ${Buffer.from(path, 'latin1').toString()}`);
    }
    return rescued;
  }
}

async function writeRescued(target: string, source: Buffer): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await copyFile(source, target);
}

export function headMoved(expected: ObjectId): LitterboxError {
  return new LitterboxError('HEAD_MOVED', `HEAD is not at ${expected} any more.`, {
    operation: 'integration.execute',
    hint: 'Look at the changes again and repeat.',
  });
}
