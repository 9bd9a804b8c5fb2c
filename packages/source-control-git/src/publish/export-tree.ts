import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type Base,
  type CallOptions,
  LitterboxError,
  type ObjectId,
  type SandboxId,
  shown,
} from '@litterbox/core/provider';
import { bytesOf, fromByteString } from '../git/byte-text.ts';
import { writeDurable } from '../git/durable-files.ts';
import { ExportPlace } from './export-place.ts';
import { findLargeFiles } from '../large-files/find-large-files.ts';
import { madePointers } from '../large-files/made-pointers.ts';
import { pathFault } from '../objects/path-rules.ts';
import { CheckedInTrees } from '../large-files/checked-in-trees.ts';
import { removeExport } from './remove-export.ts';
import { readMeta, readMilestones } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { readTar } from '../objects/tar-reader.ts';
import { archiveTree } from '../base/tree-archive.ts';
import type { UserRepository } from '../person/user-repository.ts';

const OPERATION = 'tree.export';
const EXCLUDED = '/.litterbox/';
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Files of up to this size are written several at a time: each goes three times through Node's threads. */
const SMALL_BYTES = 64 * 1024;
const AT_A_TIME = 16;

/** What an export writes now: the last milestone, else the base. @throws LitterboxError `NOT_FOUND`. */
export async function exportedTree(store: Store, id: SandboxId): Promise<ObjectId> {
  return (await exportedBase(store, id)).tree;
}

async function exportedBase(store: Store, id: SandboxId): Promise<Pick<Base, 'commit' | 'tree'>> {
  const { base } = await readMeta(store, id);
  const last = (await readMilestones(store, id)).at(-1);
  return last ? { commit: last.commit, tree: await store.commitTree(last.commit) } : base;
}

/**
 * Writes the tree of the review branch for people to look into: plain files that no tool takes for a repository,
 * symbolic links as text. An earlier one is swapped out whole. Files of Git LFS that the sandbox changed have their contents, which git-lfs
 * gets too: from then on the review branch can be checked out.
 */
export async function exportTree(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  { tree: wanted, signal }: CallOptions & { readonly tree?: ObjectId } = {},
): Promise<{ readonly directory: string; readonly files: number }> {
  const { slug } = await readMeta(store, id);
  const last = await exportedBase(store, id);
  const tree = wanted ?? last.tree;
  const place = new ExportPlace(store, user);
  return store.userLock.hold(
    OPERATION,
    async () => {
      const made = await madePointers(store, id, () => true, signal);
      await CheckedInTrees.place(store, user, [...made.values()], signal);
      const found = made.size === 0 ? [] : await findLargeFiles(user, store, { ...last, tree }, signal);
      const largeFiles = found.filter(({ recorded }) => recorded !== undefined);
      await place.prepare();
      await excludeFromGit(user);
      const temporary = join(place.files, `.${slug}-${randomBytes(6).toString('hex')}`);
      const old = `${temporary}old`;
      try {
        await mkdir(temporary, { mode: 0o700 });
        const files = await writeFiles(
          ReadableStream.from(archiveTree(user, store, tree, { largeFiles, signal })),
          temporary,
        );
        const own = join(place.files, slug);
        await rename(own, old).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
        });
        await rename(temporary, own);
        const directory = await place.link(slug);
        await removeExport(old);
        return { directory, files };
      } finally {
        await rm(temporary, { recursive: true, force: true });
      }
    },
    { signal },
  );
}

async function writeFiles(tar: ReadableStream<Uint8Array>, directory: string): Promise<number> {
  let files = 0;
  const underWay: Promise<void>[] = [];
  try {
    for await (const entry of readTar(tar)) {
      const fault = pathFault(entry.name);
      if (fault !== undefined) {
        throw new LitterboxError(fault, `${shown(fromByteString(entry.name))} is no name for a file.`, {
          operation: OPERATION,
        });
      }
      const at = Buffer.concat([Buffer.from(`${directory}/`), bytesOf(entry.name)]);
      if (entry.type === 'directory') {
        await mkdir(at, { mode: 0o755 });
        continue;
      }
      files++;
      const mode = entry.type === 'file' && entry.isExecutable ? 0o755 : 0o644;
      if (entry.type === 'symlink' || entry.sizeBytes <= SMALL_BYTES) {
        const content = entry.type === 'symlink' ? bytesOf(entry.linkTarget) : await whole(entry.body);
        const writing = writeFile(at, content, { flag: NEW_FILE, mode });
        writing.catch(() => {}); // until it is waited for
        underWay.push(writing);
        if (underWay.length < AT_A_TIME) continue;
        await Promise.all(underWay);
        underWay.length = 0;
        continue;
      }
      const handle = await open(at, NEW_FILE, mode);
      try {
        for await (const chunk of entry.body) await handle.writeFile(chunk);
      } finally {
        await handle.close();
      }
    }
    await Promise.all(underWay);
    return files;
  } finally {
    await Promise.allSettled(underWay); // nothing may appear in a directory that is being removed
  }
}

/** A copy: the bytes that come next may take the place of these. */
async function whole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function excludeFromGit(user: UserRepository): Promise<void> {
  const path = join(user.commonDirectory, 'info', 'exclude');
  const text = await readFile(path, 'latin1').catch(() => '');
  if (text.split(/\r?\n/).includes(EXCLUDED)) return;
  await mkdir(dirname(path), { recursive: true });
  await writeDurable(
    path,
    Buffer.from(`${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${EXCLUDED}\n`, 'latin1'),
  );
}
