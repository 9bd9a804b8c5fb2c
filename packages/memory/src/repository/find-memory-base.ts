import {
  decodeRaw,
  type Asker,
  type Base,
  type BaseSource,
  type FoundBase,
  type HeldFile,
  LitterboxError,
  type LitterboxErrorCode,
  type ObjectId,
  secretByName,
  secretTexts,
} from '@litterbox/core/provider';
import { type TreeFile, treeIdOf } from './file-tree.ts';
import type { KeptCommit, PersonalRepository } from './personal-repository.ts';

/** What a caller is told by name, as the port has it. */
const MAX_TOLD = 20;
const HOLDERS = ['refs/heads/', 'refs/tags/', 'refs/remotes/'];
const REVIEW_BRANCH = /^refs\/(?:heads|remotes\/[^/]+)\/litterbox\//;

/** What a sandbox starts from. @throws LitterboxError `UNBORN_HEAD`, `REV_INVALID`, `REV_NOT_FOUND`. */
export function findMemoryBase(repository: PersonalRepository, source: BaseSource, asker: Asker): FoundBase {
  if (source.type === 'ref') {
    const commit = named(repository, source.name, asker);
    return { ...baseOf(commit), isPersons: isPersons(repository, commit.id) };
  }
  const { head, headRef } = repository;
  if (!head) throw refuse('UNBORN_HEAD', 'The repository has no commit yet.');
  const found = { headRef, isPersons: true }; // HEAD is on a branch of the person's
  if (source.type === 'head') return { ...baseOf(head), ...found };
  if (source.type === 'files') {
    const given = new Map<string, TreeFile>();
    for (const [path, content] of source.files) given.set(path, { type: 'file', isExecutable: false, content });
    return { ...baseOf(repository.keep(given, [head.id], 'files')), ...found };
  }
  const { tree, files } = withoutSecrets(repository, source.named ?? []);
  const isSame = treeIdOf(tree) === head.tree;
  const heldBack = files.length > 0 ? { heldBack: { files: files.slice(0, MAX_TOLD), total: files.length } } : {};
  return { ...baseOf(isSame ? head : repository.keep(tree, [head.id], 'work tree')), ...found, ...heldBack };
}

/** The work tree, with what looks like a secret as HEAD has it. */
function withoutSecrets({ visible, headTree }: PersonalRepository, named: readonly string[]) {
  const isNamed = (path: string) => named.some((one) => path === one || path.startsWith(`${one}/`));
  const tree = new Map(visible);
  const files: HeldFile[] = [];
  for (const [path, { type, content }] of [...visible].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const own = headTree.get(path);
    const known = new Set(own ? secretTexts(path, own.content).map(({ text }) => text) : []);
    const isSame = own !== undefined && decodeRaw(own.content) === decodeRaw(content);
    const holds =
      secretByName(path) ?? secretTexts(path, content).find(({ text }) => own === undefined || !known.has(text))?.holds;
    const isSecret = type === 'file' && !isSame && holds !== undefined && !isNamed(path);
    if (isSecret) files.push({ path, holds, isTracked: own !== undefined });
    if (!isSecret && (own !== undefined || !isNamed(path))) continue;
    if (own) tree.set(path, own);
    else tree.delete(path);
  }
  return { tree, files };
}

function named(repository: PersonalRepository, name: string, asker: Asker): KeptCommit {
  const { commits, refs, head } = repository;
  if (!/^[A-Za-z0-9_][A-Za-z0-9_./-]*$/.test(name) || name.includes('..'))
    throw refuse('REV_INVALID', `${JSON.stringify(name)} does not name one commit.`);
  const places = asker === 'agent' ? [] : [name, `refs/${name}`];
  const wholes = [...places, ...[name, ...HOLDERS.map((above) => `${above}${name}`)].filter(isHolder)];
  const id = wholes.map((ref) => refs.get(ref)).find((one) => one !== undefined);
  const commit = name === 'HEAD' ? head : [...commits.values()].find((one) => one.id === (id ?? name));
  if (commit && (asker === 'person' || isHeld(repository, commit.id, isHolder))) return commit;
  throw refuse('REV_NOT_FOUND', `There is no commit ${JSON.stringify(name)}.`);
}

const isHolder = (ref: string) => HOLDERS.some((above) => ref.startsWith(above));

function isPersons(repository: PersonalRepository, commit: ObjectId): boolean {
  return isHeld(repository, commit, (ref) => isHolder(ref) && !REVIEW_BRANCH.test(ref));
}

function isHeld(repository: PersonalRepository, commit: ObjectId, isWanted: (ref: string) => boolean): boolean {
  return [...repository.refs].some(([ref, tip]) => isWanted(ref) && repository.isReachable(commit, tip));
}

const baseOf = ({ id, tree }: KeptCommit): Base => ({ commit: id, tree });

function refuse(code: LitterboxErrorCode, message: string): LitterboxError {
  return new LitterboxError(code, message, { operation: 'repository.base' });
}
