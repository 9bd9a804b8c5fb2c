import { type Base, LitterboxError, shown } from '@litterbox/core/provider';
import { toByteString } from '../git/byte-text.ts';
import { serializeCommit } from '../objects/commit-object.ts';
import { addEdit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import { pathFault } from '../objects/path-rules.ts';
import type { Store } from '../store/store.ts';

/**
 * Files that a program gave, as a commit on HEAD that holds nothing else.
 *
 * @throws LitterboxError `PATH_GIT_DIR`, `PATH_TOO_LONG` for what no tree may hold
 */
export async function commitFiles(
  store: Store,
  head: Pick<Base, 'commit'>,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<Pick<Base, 'commit' | 'tree'>> {
  for (const path of files.keys()) assertPath(path);
  return await store.put(async (sink) => {
    const edits = editedDirectory();
    for (const [path, content] of files) {
      const oid = sink.put('blob', Buffer.from(content));
      addEdit(edits, toByteString(path), { type: 'entry', mode: '100644', oid });
    }
    const tree = (await editTree(store.reader, sink, undefined, edits)) ?? (await store.commitTree(head.commit));
    const atSeconds = Math.floor(Date.now() / 1000);
    const message = 'Files at the start of a sandbox\n';
    const commit = sink.put(
      'commit',
      serializeCommit({ tree, parents: [head.commit], atSeconds, message, synthetic: true }),
    );
    return { commit, tree };
  });
}

function assertPath(path: string): void {
  const fault = pathFault(toByteString(path));
  if (fault === undefined) return;
  throw new LitterboxError(fault, `The path ${shown(path)} cannot be in a repository.`, {
    operation: 'sandbox.base',
    hint: 'Give the file another name.',
  });
}
