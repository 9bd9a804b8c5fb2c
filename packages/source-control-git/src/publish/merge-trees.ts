import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LitterboxError, type ObjectId, type Slug } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { serializeCommit } from '../objects/commit-object.ts';
import { addEdit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import { GitFailure } from '../git/git-failure.ts';
import { mergeFile } from './merge-file.ts';
import type { MergeArguments } from '../person/merge-arguments.ts';
import type { Store } from '../store/store.ts';
import type { TreeMode } from '../objects/tree-object.ts';

/** Beyond this a conflict is left to the person instead of being settled by -X. */
const MAX_SETTLED_BYTES = 16 * 1024 * 1024;

export interface ConflictStage {
  readonly mode: string;
  readonly oid: ObjectId;
  readonly stage: 1 | 2 | 3;
  readonly path: ByteString;
}

export interface MergedTree {
  /** With conflict markers in the files of `stages`. */
  readonly tree: ObjectId;
  readonly stages: readonly ConflictStage[];
}

export interface MergeSides {
  readonly ours: ObjectId;
  readonly theirs: ObjectId;
  /** A tree to merge over instead of the common ancestor. */
  readonly baseTree?: ObjectId;
  readonly slug: Slug;
}

/** How the person wants files merged. */
export interface MergeRules {
  /** Their settings of merging, as `key=value`. */
  readonly configuration: readonly string[];
  /** Lines of an attributes file. */
  readonly attributes: string;
}

/**
 * A three-way merge inside the store: no work tree, no filters, no hooks, no attributes but those given. It runs in a
 * git directory of its own, whose refs have the names that people expect in conflict markers.
 */
export async function mergeTrees(
  store: Store,
  sides: MergeSides,
  options: Pick<MergeArguments, 'strategy' | 'strategyOptions'>,
  rules: MergeRules,
  signal: AbortSignal | undefined,
): Promise<MergedTree> {
  if (options.strategy === 'ours') return { tree: await store.commitTree(sides.ours), stages: [] };
  const passes = await store.git.isAtLeast(2, 43);
  const strategyOptions = [...options.strategyOptions, ...(options.strategy === 'subtree' ? ['subtree'] : [])];
  const settled = strategyOptions.findLast((option) => option === 'ours' || option === 'theirs');
  const others = strategyOptions.filter((option) => option !== 'ours' && option !== 'theirs');
  if (!passes && others.length > 0) {
    throw new LitterboxError('UNSUPPORTED', `This git cannot merge with -X ${others[0]} outside a work tree.`, {
      operation: 'integration.plan',
      hint: 'Install git 2.43 or newer, or merge the review branch yourself with git merge.',
    });
  }
  const room = join(store.workDirectory, `merge-${process.pid}-${randomBytes(6).toString('hex')}`);
  try {
    await furnish(store, room, sides, rules.attributes);
    const config = rules.configuration.flatMap((setting) => ['-c', setting]);
    const extra = passes ? strategyOptions.map((option) => `-X${option}`) : [];
    const args = [...config, 'merge-tree', '--write-tree', '-z', '--no-messages', ...extra];
    const { code, stdout, stderr } = await store.run([...args, 'HEAD', `litterbox/${sides.slug}`], {
      gitDirectory: room,
      cwd: room,
      environment: { GIT_OBJECT_DIRECTORY: join(store.gitDirectory, 'objects') },
      signal,
    });
    if (code !== 0 && code !== 1) throw new GitFailure(args.slice(config.length), code, stderr);
    const [tree = '', ...lines] = stdout.toString('latin1').split('\0');
    const stages: ConflictStage[] = [];
    for (const line of lines) {
      const [, mode = '', oid = '', stage = '', path = ''] = /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(line) ?? [];
      if (path !== '') stages.push({ mode, oid: oid as ObjectId, stage: Number(stage) as 1 | 2 | 3, path });
    }
    const merged = { tree: tree as ObjectId, stages };
    return settled !== undefined && !passes ? await settle(store, room, merged, settled === 'ours', signal) : merged;
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

async function furnish(store: Store, room: string, sides: MergeSides, attributes: string): Promise<void> {
  let { ours, theirs } = sides;
  if (sides.baseTree !== undefined) {
    // merge-tree takes no base before git 2.40; two commits on a commit of that tree have it as their ancestor.
    const [baseTree, ourTree, theirTree] = [
      sides.baseTree,
      await store.commitTree(ours),
      await store.commitTree(theirs),
    ];
    [ours, theirs] = await store.put((sink) => {
      const commit = (tree: ObjectId, parents: readonly ObjectId[]) =>
        sink.put('commit', serializeCommit({ tree, parents, atSeconds: 0, message: 'merge\n' }));
      const base = commit(baseTree, []);
      return [commit(ourTree, [base]), commit(theirTree, [base])] as const;
    });
  }
  await mkdir(join(room, 'objects'), { recursive: true, mode: 0o700 });
  await mkdir(join(room, 'refs', 'heads', 'litterbox'), { recursive: true });
  await writeFile(join(room, 'config'), await readFile(join(store.gitDirectory, 'config')));
  if (attributes !== '') {
    await mkdir(join(room, 'info'));
    await writeFile(join(room, 'info', 'attributes'), attributes, 'latin1');
  }
  await writeFile(join(room, 'HEAD'), `${ours}\n`);
  await writeFile(join(room, 'refs', 'heads', 'litterbox', sides.slug), `${theirs}\n`);
  const shallow = await readFile(join(store.gitDirectory, 'shallow')).catch(() => undefined);
  if (shallow) await writeFile(join(room, 'shallow'), shallow);
}

/** What `-X ours` and `-X theirs` do, for a git whose merge-tree has no -X: each conflicting file merged again by that rule. */
async function settle(
  store: Store,
  room: string,
  merged: MergedTree,
  isOurs: boolean,
  signal: AbortSignal | undefined,
): Promise<MergedTree> {
  const paths = new Map<ByteString, ConflictStage[]>();
  for (const stage of merged.stages) paths.set(stage.path, [...(paths.get(stage.path) ?? []), stage]);
  const edits = editedDirectory();
  const left: ConflictStage[] = [];
  using sink = store.sink();
  for (const [path, stages] of paths) {
    const [base, ours, theirs] = [1, 2, 3].map((stage) => stages.find((found) => found.stage === stage));
    const regular = [base, ours, theirs].every((stage) => !stage || stage.mode.startsWith('100'));
    if (!ours || !theirs || !regular) {
      left.push(...stages);
      continue;
    }
    const contents = await Promise.all(
      [ours, base, theirs].map(async (stage) => (stage ? await store.reader.blob(stage.oid) : Buffer.alloc(0))),
    );
    if (contents.some((content) => content.length > MAX_SETTLED_BYTES)) {
      left.push(...stages);
      continue;
    }
    const [ourBytes, baseBytes, theirBytes] = contents as [Buffer, Buffer, Buffer];
    const rule = isOurs ? '--ours' : '--theirs';
    const settled = await mergeFile(store, room, [ourBytes, baseBytes, theirBytes], [rule], signal);
    // Refused means binary: the side is taken as a whole.
    const content = settled ?? (isOurs ? ourBytes : theirBytes);
    const mode = (ours.mode === base?.mode ? theirs.mode : ours.mode) as TreeMode;
    addEdit(edits, path, { type: 'entry', mode, oid: sink.put('blob', content) });
  }
  const tree = (await editTree(store.reader, sink, merged.tree, edits)) ?? store.format.emptyTree;
  await sink.finish();
  return { tree, stages: left };
}
