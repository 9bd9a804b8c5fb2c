import { isLitterboxError, type ProgressOptions, quoted, type WorkspaceSource } from '@litterbox/core/provider';
import { type BaseTreesInput, ensureBaseTree } from './base-trees.ts';
import { confinedCopy } from './copy-layers.ts';
import type { DirectoryLayout } from './directory-layout.ts';
import { runScriptOrFail } from '../script/run-script.ts';
import { baseTreeName, type TreeKind } from './tree-kind.ts';
import { removeTree } from './unfinished.ts';

/** How a base tree is made of another one. */
export interface BaseCopyInput extends Omit<BaseTreesInput, 'bases' | 'fill'> {
  readonly layout: DirectoryLayout;
  readonly isRoot: boolean;
  /**
   * Shell text, a command with a status: makes the directory `to`, which holds what the base tree `from` holds and shares it. Writing into one
   * never changes the other: hard links would.
   */
  copyBase(from: string, to: string): string;
}

/** Each is compared with the tree that is wanted, which takes milliseconds. */
const MOST_COMPARED = 8;
const KEY = /^[0-9a-f]{8,128}$/;

/**
 * A base tree that is made as a copy of the nearest one that is kept, with what differs put into it: where copies share their content, a commit
 * that changes one file of eighty thousand costs that file. Does nothing where none is near; then the whole tree is to be unpacked.
 */
export async function ensureBaseCopy(
  { layout, isRoot, copyBase, ...trees }: BaseCopyInput,
  source: WorkspaceSource,
  options?: ProgressOptions,
): Promise<void> {
  if (!source.nearest || !source.openOver) return;
  const { host, kind } = trees;
  const { bases, root, sandboxes } = layout;
  const suffix = kind?.suffix ?? '';
  const keys = ((await host.files.list(bases, options)) ?? [])
    .filter(({ name }) => name.endsWith(suffix))
    .map(({ name }) => name.slice(0, name.length - suffix.length))
    .filter((key) => KEY.test(key));
  try {
    const base = await source.nearest(keys.slice(-MOST_COMPARED), options);
    if (base === undefined) return;
    const from = `${bases}/${baseTreeName(base, kind)}`;
    const fill = async (unfinished: string) => {
      const whole = `${unfinished}-whole`;
      // Nobody sets base trees aside who finds the first lock taken; nobody sweeps what is unfinished who finds another one taken.
      const script = `${removeTree(kind ? [kind] : [])}exec 8<${quoted(sandboxes)} && flock -s -w 60 8 && exec 6<${quoted(bases)} && flock -s -w 60 6 && [ -d ${quoted(from)} ] || exit 1
exec 9<${quoted(unfinished)} && flock -s 9 && ${copyBase(from, whole)} && exec 7<${quoted(whole)} && flock -s 7 || { remove_tree ${quoted(whole)}; exit 1; }
exec 6<&- 8<&-
${confinedCopy({ root, isRoot, copy: putInto(unfinished, whole, kind?.files) })} || { remove_tree ${quoted(whole)}; exit 1; }
remove_tree ${quoted(unfinished)} && mv -T ${quoted(whole)} ${quoted(unfinished)}`;
      await runScriptOrFail(host, 'provider.base-copy', script, options);
    };
    const open: WorkspaceSource['open'] = (call) => source.openOver?.(base, call) ?? source.open(call);
    await ensureBaseTree({ ...trees, bases, fill }, { key: source.key, open }, options);
  } catch (error) {
    options?.signal?.throwIfAborted();
    // Some machines make no devices of this kind, or the other tree is not known any more, or gone. A full disk would be full for the whole tree too.
    if (!(['UNAVAILABLE', 'OBJECT_MISSING', 'BUSY'] as const).some((code) => isLitterboxError(error, code)))
      throw error;
  }
}

/**
 * Shell text, confined: puts a difference into a tree. Devices in it stand for what is gone. What it replaces is removed first, so that nothing is written
 * through a link, into a directory that became a file, or into a file that others share. Directories have the times of the difference at last.
 */
function putInto(difference: string, whole: string, files: TreeKind['files']): string {
  const tree = files ? `${whole}/${files.name}` : whole;
  const each = (what: string, command: string) =>
    `find . ${what} -exec sh -c 'for p; do ${command} || exit 1; done' ${quoted(tree)} {} +`;
  return [
    ...(files ? [files.mount(whole)] : []),
    `cd ${quoted(difference)}`,
    each('-mindepth 1 -type d', '{ [ -d "$0/$p" ] && [ ! -h "$0/$p" ]; } || rm -f -- "$0/$p"'),
    each('! -type d', 'rm -rf -- "$0/$p"'),
    `cp -a --reflink=auto . ${quoted(tree)}/`,
    each('-type c', 'rm -f -- "$0/$p"'),
    each('-type d', 'touch -r "$p" -- "$0/$p"'),
  ].join(' && ');
}
