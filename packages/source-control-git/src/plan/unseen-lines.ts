import { isAscii } from 'node:buffer';
import { type ObjectId, UNSEEN } from '@litterbox/core/provider';
import { fromByteString } from '../git/byte-text.ts';
import { readBlobs } from '../store/read-blobs.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';

/** The cursor goes back, over what is seen then; languages take a lone CR for the end of a line, and of a comment. */
const GOES_BACK = /[\b]|\r[^\r\n]/;
/** So many blanks push what stands behind them out of every window. Looks once at each run of them, however long. */
const PUSHED_OUT = /(?<![ \t\u00a0\u3000])[ \t\u00a0\u3000]{200,}(?=\S)/;
/** Few controls steer the terminal of who prints the file: those that begin an escape. Half of a pair is a byte that is no text. */
const HIDDEN = `(?![\\p{Cc}\\p{Cs}])(?:${UNSEEN.source})`;
const IN_TEXT = [HIDDEN, '[\\x1b\\x90\\x9b\\x9d-\\x9f]', GOES_BACK.source, PUSHED_OUT.source].join('|');
/** A larger file that was there before is not read. */
const MAX_OLD_BYTES = 16 * 2 ** 20;

/**
 * The paths whose added lines hold what nobody sees: invisible characters, those that reorder text, escape sequences of terminals, what
 * makes a terminal write over a line, and text behind hundreds of blanks. Reads what is written, as a stream, and of the few
 * files that hold any what was there before.
 *
 * @param isRead tells by the id whether a blob is small enough to be read whole
 */
export async function pathsWithUnseen(
  store: Store,
  steps: readonly PathStep[],
  isRead: (oid: ObjectId) => boolean,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const written = steps.filter((step) => isFile(step.new) && step.old?.oid !== step.new?.oid);
  const oids = new Set(written.flatMap((step) => (step.new && isRead(step.new.oid) ? [step.new.oid] : [])));
  const held = new Set<string>();
  for await (const { oid, bytes } of readBlobs(store, [...oids], signal)) {
    if (isAscii(bytes) && !bytes.includes(0x1b) && !isMisleading(bytes.toString('latin1'))) continue;
    if (!linesWithUnseen(bytes).next().done) held.add(oid);
  }
  const found = new Set<string>();
  for (const step of written)
    if (held.has(step.new?.oid ?? '') && (await addsUnseen(store, step))) found.add(fromByteString(step.path));
  return found;
}

/** Whether a line with what nobody sees is new. All are of a file that was too large to be read. */
async function addsUnseen(store: Store, { old, new: next }: PathStep): Promise<boolean> {
  if (!old || !next || !isFile(old)) return true;
  const bytes = await store.reader.blobUpTo(old.oid, MAX_OLD_BYTES);
  if (!bytes) return true;
  const before = new Set(linesWithUnseen(bytes));
  if (before.size === 0) return true;
  for (const line of linesWithUnseen(await store.reader.blob(next.oid))) if (!before.has(line)) return true;
  return false;
}

const isFile = (side: PathStep['new']) => side?.mode === '100644' || side?.mode === '100755';

const isMisleading = (text: string) => PUSHED_OUT.test(text) || GOES_BACK.test(text);

/** As git tells it. What is binary is named as such. */
const isBinary = (bytes: Buffer) => bytes.subarray(0, 8000).includes(0);

/** One after the other: an agent may write a million of them into each of many files. */
function* linesWithUnseen(bytes: Buffer): Generator<string, void, undefined> {
  const unseen = new RegExp(isBinary(bytes) ? HIDDEN : IN_TEXT, 'gu');
  const text = bytes.toString().replace(/^\ufeff/, ''); // the mark at the beginning of a file
  for (let found = unseen.exec(text); found; found = unseen.exec(text)) {
    const from = text.lastIndexOf('\n', found.index) + 1;
    const newline = text.indexOf('\n', found.index);
    const end = newline < 0 ? text.length : newline;
    yield text.slice(from, end);
    unseen.lastIndex = end + 1;
  }
}
