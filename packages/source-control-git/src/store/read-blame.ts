import {
  type BlamedLines,
  LitterboxError,
  type LitterboxErrorCode,
  MAX_BLAMED_BYTES,
  type ObjectId,
  type SandboxId,
  shown,
} from '@litterbox/core/provider';
import { fromByteString, toByteString } from '../git/byte-text.ts';
import { GitFailure } from '../git/git-failure.ts';
import { TreeLookup } from '../objects/tree-lookup.ts';
import { readMeta, readTip } from './sandbox-refs.ts';
import type { Store } from './store.ts';

/** A file of many changes by an agent may take git long: so much processor time it gets. */
const MAX_SECONDS = 30;
/** As git decides what is text: a NUL near the start. */
const LOOKED_BYTES = 8000;

type Blamed = { -readonly [Key in keyof BlamedLines]: BlamedLines[Key] } & { lines: string[] };

export async function readBlame(
  store: Store,
  id: SandboxId,
  path: string,
  options: { readonly upTo?: ObjectId; readonly signal?: AbortSignal | undefined } | undefined,
): Promise<readonly BlamedLines[]> {
  const { base } = await readMeta(store, id);
  const commit = options?.upTo ?? (await readTip(store, id)).commit;
  const signal = options?.signal;
  await assertText(store, await store.commitTree(commit), path, signal);
  // Names that are no UTF-8 cannot be an argument: git says then that there is no such file.
  const name = Buffer.from(toByteString(path), 'latin1').toString('utf8');
  const range = commit === base.commit ? [commit] : [`${base.commit}..${commit}`];
  const args = ['blame', '--porcelain', ...range, '--', name];
  const output = await store.output(args, { signal, cpuSeconds: MAX_SECONDS }).catch((error: unknown) => {
    if (!(error instanceof GitFailure) || error.code >= 0) throw error;
    throw refusal('FILE_TOO_LARGE', `The lines of ${shown(path)} take git longer than ${MAX_SECONDS} seconds.`);
  });
  return await runsOf(store, output, base.commit);
}

async function assertText(store: Store, tree: ObjectId, path: string, signal: AbortSignal | undefined): Promise<void> {
  const found = await new TreeLookup(store.reader, tree).entry(toByteString(path));
  if (!found) throw refusal('NOT_FOUND', `There is no file ${shown(path)} in the sandbox.`);
  if (!found.mode.startsWith('100')) throw refusal('NOT_A_REGULAR_FILE', `${shown(path)} is not a regular file.`);
  const bytes = Number((await store.output(['cat-file', '-s', found.oid], { signal })).toString());
  if (bytes > MAX_BLAMED_BYTES)
    throw refusal('FILE_TOO_LARGE', `${shown(path)} has ${bytes} bytes; at most ${MAX_BLAMED_BYTES} are looked at.`);
  const content = (await store.reader.read(found.oid))?.bytes ?? new Uint8Array();
  if (content.subarray(0, LOOKED_BYTES).includes(0)) throw refusal('NOT_A_REGULAR_FILE', `${shown(path)} is not text.`);
}

const refusal = (code: LitterboxErrorCode, message: string) =>
  new LitterboxError(code, message, { operation: 'history.blame' });

/** @see https://git-scm.com/docs/git-blame#_the_porcelain_format */
async function runsOf(store: Store, output: Buffer, base: ObjectId): Promise<readonly BlamedLines[]> {
  const numbers = new Map<string, number>([[base, 0]]);
  const runs: Blamed[] = [];
  let commit = '';
  for (const line of output.toString('latin1').split('\n')) {
    const [, oid] = /^([0-9a-f]{40,64}) \d+ \d+(?: \d+)?$/.exec(line) ?? [];
    if (oid !== undefined) commit = oid;
    if (!line.startsWith('\t')) continue;
    const revision = numbers.get(commit) ?? (await store.reader.commit(commit as ObjectId)).revision?.number ?? 0;
    numbers.set(commit, revision);
    const text = fromByteString(line.slice(1));
    const last = runs.at(-1);
    if (last?.revision === revision) last.lines.push(text);
    else {
      const firstLine = last ? last.firstLine + last.lines.length : 1;
      runs.push({ revision, commit: revision === 0 ? base : (commit as ObjectId), firstLine, lines: [text] });
    }
  }
  return runs;
}
