import { isLitterboxError, type ProgressOptions, type WorkspaceSource } from '@litterbox/core/provider';
import { type BaseTreesInput, ensureBaseTree } from './base-trees.ts';

/** A base that is made of another one: names beside each other in the directory of base trees. */
export interface BaseOver {
  /** The base tree that is there as a whole. */
  readonly base: string;
  /** The layer that makes it into the base that is wanted. */
  readonly difference: string;
}

/** A base tree that was unpacked as a whole. */
const WHOLE = /^[0-9a-f]{8,128}$/;
/** Each is compared with the tree that is wanted, which takes milliseconds. */
const MOST_COMPARED = 8;

/**
 * A base that is made by its difference from the nearest one that is kept, for layers that can lie over each other: a commit that changes
 * one file of eighty thousand costs that file. Undefined where none is near; then the whole tree is to be unpacked.
 */
export async function ensureBaseOver(
  input: BaseTreesInput,
  source: WorkspaceSource,
  options?: ProgressOptions,
): Promise<BaseOver | undefined> {
  if (!source.nearest || !source.openOver) return undefined;
  const names = ((await input.host.files.list(input.bases, options)) ?? []).map(({ name }) => name);
  const wholes = new Set(names.filter((name) => WHOLE.test(name)));
  const overOf = (base: string): BaseOver => ({ base, difference: `${source.key}-${base}` });
  const made = [...wholes].map(overOf).find(({ difference }) => names.includes(difference));
  if (made) return made;
  try {
    const base = await source.nearest([...wholes].slice(-MOST_COMPARED), options);
    if (base === undefined) return undefined;
    const over = overOf(base);
    const open: WorkspaceSource['open'] = (call) => source.openOver?.(base, call) ?? source.open(call);
    await ensureBaseTree(input, { key: over.difference, open }, { signal: options?.signal });
    return over;
  } catch (error) {
    options?.signal?.throwIfAborted();
    // Some machines make no such devices, or the other tree is not known any more. A full disk would be full for the whole tree too.
    if (isLitterboxError(error, 'UNAVAILABLE') || isLitterboxError(error, 'OBJECT_MISSING')) return undefined;
    throw error;
  }
}
