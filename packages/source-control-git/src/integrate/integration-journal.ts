import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LitterboxError, type ObjectId, type SandboxId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { syncDirectory, writeDurable } from '../git/durable-files.ts';
import type { MarkedFiles } from '../person/marked-files.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';

/**
 * What an apply or merge is doing to the user's repository, written before it does it.
 *
 * - `stashing`: uncommitted work is in `stash` and is being taken out of the work tree. Undone by putting it back.
 * - `updating`: files are being written. Undone by writing the old ones.
 * - `finishing`: all files are written. Redone: HEAD, then the index.
 * - `unstashing`: all is done but putting `stash` back.
 */
export interface IntegrationRecord {
  readonly version: 1;
  readonly phase: 'stashing' | 'updating' | 'finishing' | 'unstashing';
  readonly integration: string;
  readonly sandbox: SandboxId;
  readonly slug: string;
  readonly root: string;
  readonly head: ObjectId;
  /** The tree of HEAD with files as they were staged, where the steps begin with those. */
  readonly from?: ObjectId;
  /** Where HEAD goes. Absent when it stays. */
  readonly newHead?: ObjectId;
  /** Content of the lock file, which says that it is ours. */
  readonly marker: string;
  /** The next index, beside the present one. */
  readonly nextIndex: string;
  readonly steps: readonly PathStep[];
  /** Files for the git directory, by name, that tell git of the conflict. */
  readonly stateFiles: Readonly<Record<string, string>>;
  readonly stash?: ObjectId;
  /** The stash waits for the person to end the conflict. */
  readonly keepsStash: boolean;
  /** Marks of the index that entries lose when they are written. */
  readonly marks?: Pick<MarkedFiles, 'assumedUnchanged' | 'skipped'>;
  /** Paths of steps that change in the index alone, because a sparse checkout leaves them out. */
  readonly leftOut?: readonly ByteString[];
}

const pathOf = (store: Store) => join(store.directory, 'integration.json');

export async function writeJournal(store: Store, record: IntegrationRecord): Promise<void> {
  await writeDurable(pathOf(store), JSON.stringify(record));
}

export async function readJournal(store: Store): Promise<IntegrationRecord | undefined> {
  const text = await readFile(pathOf(store), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as IntegrationRecord;
  } catch (cause) {
    throw new LitterboxError(
      'STORE_CORRUPT',
      'The journal of an interrupted apply or merge is damaged.',
      { operation: 'repository.reconcile', hint: `Look at git status, then remove ${pathOf(store)}.` },
      { cause },
    );
  }
}

export async function clearJournal(store: Store): Promise<void> {
  await rm(pathOf(store), { force: true });
  await syncDirectory(store.directory);
}
