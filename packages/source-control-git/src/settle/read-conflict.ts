import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ConflictFile,
  type ConflictPart,
  type ConflictSide,
  LitterboxError,
  type ObjectId,
  visibleName,
} from '@litterbox/core/provider';
import { fromByteString, toByteString } from '../git/byte-text.ts';
import { largeFileBytes } from '../large-files/large-file-pointer.ts';
import { mergeFile } from '../publish/merge-file.ts';
import type { ConflictStage } from '../publish/merge-trees.ts';
import { readBlobSizes } from '../store/read-blob-sizes.ts';
import type { Store } from '../store/store.ts';
import { conflictParts, markLength } from './conflict-parts.ts';

/** Bytes of a side above which the file is taken by a side: a person edits the text of both. */
const MAX_TEXT_BYTES = 512 * 1024;
const GIT_LINK = '160000';

/** The three sides of one path in conflict; each may be absent. */
export interface ConflictStages {
  readonly base?: ConflictStage;
  readonly ours?: ConflictStage;
  readonly theirs?: ConflictStage;
}

export function stagesOf(stages: readonly ConflictStage[], path: string): ConflictStages {
  const found = stages.filter((stage) => stage.path === toByteString(path));
  const [base, ours, theirs] = ([1, 2, 3] as const).map((number) => found.find(({ stage }) => stage === number));
  return { ...(base && { base }), ...(ours && { ours }), ...(theirs && { theirs }) };
}

/** Tells one conflict from another: the kinds and contents of all three sides. */
export function conflictDigest({ base, ours, theirs }: ConflictStages): string {
  const lines = [base, ours, theirs].map((side) => (side ? `${side.mode} ${side.oid}` : 'none'));
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/** One file of a plan that conflicts, with the text of both sides where a person can edit it. @throws LitterboxError `NOT_FOUND` */
export async function readConflict(
  store: Store,
  { stages: all, slug }: { readonly stages: readonly ConflictStage[]; readonly slug: string },
  path: string,
  signal: AbortSignal | undefined,
): Promise<ConflictFile> {
  const stages = stagesOf(all, path);
  const { base, ours, theirs } = stages;
  if (!base && !ours && !theirs) {
    throw new LitterboxError('NOT_FOUND', `${visibleName(path)} of ${slug} conflicts with nothing.`, {
      operation: 'integration.conflict',
      hint: 'Look at the plan again: the branch or the sandbox may have moved on.',
    });
  }
  const sides = {
    ...(ours && { ours: await sideOf(store, ours, signal) }),
    ...(theirs && { theirs: await sideOf(store, theirs, signal) }),
  };
  const parts = await readParts(store, stages, sides, signal);
  return {
    path: fromByteString(toByteString(path)),
    digest: conflictDigest(stages),
    ...sides,
    ...(parts && { parts }),
  };
}

async function sideOf(store: Store, { mode, oid }: ConflictStage, signal?: AbortSignal): Promise<ConflictSide> {
  if (mode === GIT_LINK) return { mode, size: 0 };
  for await (const [, size] of readBlobSizes(store, [oid], signal)) return { mode, size };
  return { mode, size: 0 };
}

async function readParts(
  store: Store,
  { base, ours, theirs }: ConflictStages,
  sides: Pick<ConflictFile, 'ours' | 'theirs'>,
  signal: AbortSignal | undefined,
): Promise<readonly ConflictPart[] | undefined> {
  const areEditable = [sides.ours, sides.theirs].every(
    (side) => !side || (side.mode.startsWith('100') && side.size <= MAX_TEXT_BYTES),
  );
  if (!areEditable || (!ours && !theirs)) return undefined;
  const texts = [await textOf(store, ours?.oid), await textOf(store, theirs?.oid)];
  const [mine, agents] = texts;
  if (mine === undefined || agents === undefined) return undefined;
  if (!ours || !theirs) return [{ ours: mine, theirs: agents }];
  const before = base?.mode.startsWith('100') === true ? await store.reader.blob(base.oid) : Buffer.alloc(0);
  const length = markLength([mine, agents]);
  if (length === undefined || before.length > MAX_TEXT_BYTES) return undefined;
  const room = await mkdtemp(join(store.workDirectory, 'conflict-'));
  try {
    const contents = [Buffer.from(mine), before, Buffer.from(agents)] as const;
    const marked = await mergeFile(store, room, contents, [`--marker-size=${length}`], signal);
    return marked && conflictParts(marked.toString(), length, { ours: mine, theirs: agents });
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

/** Empty where there is no file; undefined where it is no text, byte for byte, or stands for a content that is elsewhere. */
async function textOf(store: Store, oid: ObjectId | undefined): Promise<string | undefined> {
  if (oid === undefined) return '';
  const bytes = await store.reader.blob(oid);
  if (largeFileBytes(bytes) !== undefined || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
