import { isLitterboxError, readContent, readDiff, visible } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';
import { readPatch } from '../patch/read-patch.ts';
import { pictureKind } from './picture-kind.ts';

/** Lines around a change that make a file whole. */
const ALL_LINES = 1_000_000;

/** A file before and after, as the page asks for it. Paths are as the operations take them. */
export interface AskedFile {
  readonly path: string;
  /** Where it was before, of one that was renamed. */
  readonly from?: string | undefined;
  /** The state that the page shows. */
  readonly tip: string;
}

/** One side of a binary file: its size, and a picture where it is one that shows pixels alone. */
interface ShownSide {
  readonly bytes?: number;
  /** Why it is not read. */
  readonly refused?: string;
  readonly width?: number;
  readonly height?: number;
  readonly type?: string;
  /** Base64: the page makes a picture of it without an address. */
  readonly picture?: string;
}

/** A binary file before and after; a side is absent where there is no file. */
export async function readSides(
  litterbox: Performer,
  sandbox: string,
  { path, from, tip }: AskedFile,
  signal: AbortSignal,
) {
  const side = async (at: string, revision: string): Promise<ShownSide | undefined> => {
    try {
      const bytes = await litterbox.perform(readContent, { sandbox, path: at, revision }, { signal });
      if (!bytes) return undefined;
      const kind = pictureKind(bytes);
      return { bytes: bytes.length, ...(kind && { ...kind, picture: Buffer.from(bytes).toString('base64') }) };
    } catch (error) {
      if (!isLitterboxError(error, 'FILE_TOO_LARGE')) throw error;
      return { refused: visible(error.message) };
    }
  };
  return { before: await side(from ?? path, '0'), after: await side(path, tip) };
}

/** All lines of a changed file, with its changes in them. */
export async function readWhole(litterbox: Performer, sandbox: string, { path, from }: AskedFile, signal: AbortSignal) {
  const paths = from === undefined ? [path] : [from, path];
  const diff = await litterbox.perform(readDiff, { sandbox, paths, contextLines: ALL_LINES }, { signal });
  for await (const file of readPatch(diff.patch())) if (file.path === path) return { tip: diff.tip, file };
  return { tip: diff.tip };
}
