import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Base, FoundBase, ObjectId } from '@litterbox/core/provider';
import { type ByteString, toByteString } from '../git/byte-text.ts';
import { serializeCommit } from '../objects/commit-object.ts';
import { copyIndex } from '../person/copy-index.ts';
import { findSecretFiles, heldBackOf } from './find-secret-files.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { listUnlike, splitUnlike } from '../person/work-tree-index.ts';

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/** How git is called with the private copy of the index. */
type IndexCall = Call & { readonly setting: 'user'; readonly environment: Readonly<Record<string, string>> };

/**
 * The work tree as a commit on HEAD, from a private copy of the index; the person's own clean filters run, as they do in their own
 * `git add`. Repositories inside are left alone: nothing is run in them. What looks like a secret and is not in HEAD as it is stays out:
 * a new file is not there, and a tracked one is as HEAD has it.
 *
 * @param named paths that the person named: tracked files there come as they are, and new files there are left to who brings them
 */
export async function commitWorkTree(
  user: UserRepository,
  store: Store,
  head: Pick<Base, 'commit' | 'tree'>,
  named: readonly string[],
  call: Call,
): Promise<Pick<FoundBase, 'commit' | 'tree' | 'heldBack'>> {
  await mkdir(store.workDirectory, { recursive: true, mode: 0o700 });
  const index = join(store.workDirectory, `index-${process.pid}-${randomBytes(6).toString('hex')}`);
  const environment = { GIT_INDEX_FILE: index, GIT_OBJECT_DIRECTORY: join(store.gitDirectory, 'objects') };
  const options: IndexCall = { setting: 'user', environment, ...call };
  try {
    const own = await copyIndex([join(user.gitDirectory, 'index')], index);
    if (own === undefined) await user.plumbing.output(['read-tree', head.commit], options);
    const { changed, gone, staged, isTracked } = await listChanged(user, head.commit, options);
    const isNamed = namedBy(named.map(toByteString));
    const brought = (name: ByteString) => isNamed(name) && !isTracked(name);
    const looked = [...new Set([...changed, ...staged])].filter((name) => !isNamed(name));
    const secrets = await findSecretFiles(user, store, head.tree, looked, call.signal);
    const isLeftOut = (name: ByteString) => secrets.has(name) || brought(name);
    const update = async (how: readonly string[], names: readonly ByteString[]) => {
      const input = Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1');
      if (names.length > 0)
        await user.plumbing.output(['update-index', '-z', ...how, '--stdin'], { ...options, input });
    };
    const taken = changed.filter((name) => !isLeftOut(name));
    // First and by name alone: one may lie below what is a link by now.
    await update(
      ['--force-remove'],
      taken.filter((name) => gone.has(name)),
    );
    await update(
      ['--add', '--remove'],
      taken.filter((name) => !gone.has(name)),
    );
    if (staged.some(isLeftOut)) await restoreHead(user, head.commit, isLeftOut, options);
    const tree = (await user.plumbing.text(['write-tree'], options)) as ObjectId;
    const held = heldBackOf(secrets);
    if (tree === head.tree) return { ...head, ...held };
    return { commit: await keepCommit(store, head.commit, tree, call), tree, ...held };
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

/** What differs from the index and, staged, from HEAD. Repositories inside, registered or not, are in neither. */
async function listChanged(user: UserRepository, head: ObjectId, options: IndexCall) {
  const ask = async (...args: readonly string[]) =>
    (await user.plumbing.output(args, options)).toString('latin1').split('\0').slice(0, -1);
  const { gone, there } = splitUnlike(await listUnlike(user, options));
  const differing = ['diff-index', '--cached', '-z', '--name-status', '--no-renames', '--ignore-submodules=all'];
  const statuses = pairs(await ask(...differing, head, '--'));
  const entries = (await ask('ls-files', '-z', '--stage')).map(
    (line) => /^(\d+) [0-9a-f]+ \d\t(.*)$/s.exec(line) ?? [],
  );
  const submodules = new Set(entries.filter(([, mode]) => mode === '160000').map(([, , name]) => name));
  const isNew = new Set(statuses.filter(([status]) => status === 'A').map(([, name]) => name));
  const tracked = new Set(entries.map(([, , name = '']) => name).filter((name) => !isNew.has(name)));
  return {
    changed: [...gone, ...there].filter((name) => !submodules.has(name)),
    gone,
    staged: statuses.map(([, name]) => name).filter((name) => !submodules.has(name)),
    /** Whether HEAD has it: what was only staged is as new as what was not. */
    isTracked: (name: ByteString) => tracked.has(name),
  };
}

function pairs(fields: readonly string[]): readonly (readonly [string, string])[] {
  return fields.flatMap((field, at) => (at % 2 === 0 ? [[field, fields[at + 1] ?? ''] as const] : []));
}

/** Gives entries of the index back what HEAD has there, or takes them out. */
async function restoreHead(
  user: UserRepository,
  head: ObjectId,
  isWanted: (name: ByteString) => boolean,
  options: IndexCall,
): Promise<void> {
  const args = ['diff-index', '--cached', '-z', '--raw', '--no-abbrev', '--no-renames', head, '--'];
  const fields = (await user.plumbing.output(args, options)).toString('latin1').split('\0').slice(0, -1);
  let lines = '';
  for (const [raw, name] of pairs(fields)) {
    const [mode, , oid] = raw.slice(1).split(' ');
    if (isWanted(name)) lines += `${mode === '000000' ? '0' : mode} ${oid}\t${name}\0`;
  }
  const input = Buffer.from(lines, 'latin1');
  await user.plumbing.output(['update-index', '-z', '--index-info'], { ...options, input });
}

async function keepCommit(store: Store, head: ObjectId, tree: ObjectId, call: Call): Promise<ObjectId> {
  const { atSeconds } = await store.reader.commit(head);
  const commit = await store.put((sink) =>
    sink.put(
      'commit',
      serializeCommit({
        tree,
        parents: [head],
        atSeconds: Math.max(Math.floor(Date.now() / 1000), atSeconds),
        message: 'Work tree at the start of a sandbox\n',
        synthetic: true,
      }),
    ),
  );
  // Content that only the index held is nobody's to keep in the user's repository: the store keeps it.
  await store.output(['pack-objects', '--revs', '-q', join(store.gitDirectory, 'objects', 'pack', 'pack')], {
    input: `${commit}\n^${head}\n`,
    ...call,
  });
  return commit;
}

/** Whether a path is one of these or lies below one. */
function namedBy(named: readonly ByteString[]): (name: ByteString) => boolean {
  const all = new Set(named);
  return (name) => {
    for (let cut = name.length; cut > 0; cut = name.lastIndexOf('/', cut - 1))
      if (all.has(name.slice(0, cut))) return true;
    return false;
  };
}
