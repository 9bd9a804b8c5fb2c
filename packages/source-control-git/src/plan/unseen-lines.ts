import { isAscii } from 'node:buffer';
import { type ObjectId, UNSEEN } from '@litterbox/core/provider';
import { fromByteString } from '../git/byte-text.ts';
import { readBlobs } from '../store/read-blobs.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';

/** Few controls steer the terminal of who prints the file: those below. Half of a pair is a byte that is no text. */
const HARMLESS = /^[\p{Cc}\p{Cs}]$/u;
const BEGINS_ESCAPE = /[\x1b\x90\x9b\x9d-\x9f]/;
/** The cursor goes back, over what is seen then; languages take a lone CR for the end of a line, and of a comment. */
const GOES_BACK = /[\b]|\r[^\r\n]/;
/** So many blanks push what stands behind them out of every window. Looks once at each run of them, however long. */
const PUSHED_OUT = /(?<![ \t\u00a0\u3000])[ \t\u00a0\u3000]{200,}(?=\S)/;

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
  const held = new Map<string, readonly string[]>();
  for await (const { oid, bytes } of readBlobs(store, [...oids], signal)) {
    if (isAscii(bytes) && !bytes.includes(0x1b) && !isMisleading(bytes.toString('latin1'))) continue;
    const lines = linesWithUnseen(bytes);
    if (lines.length > 0) held.set(oid, lines);
  }
  const found = new Set<string>();
  for (const step of written) {
    const lines = held.get(step.new?.oid ?? '');
    if (!lines) continue;
    const before = new Set(step.old && isFile(step.old) ? linesWithUnseen(await store.reader.blob(step.old.oid)) : []);
    if (lines.some((line) => !before.has(line))) found.add(fromByteString(step.path));
  }
  return found;
}

const isFile = (side: PathStep['new']) => side?.mode === '100644' || side?.mode === '100755';

const isMisleading = (text: string) => PUSHED_OUT.test(text) || GOES_BACK.test(text);

/** As git tells it. What is binary is named as such. */
const isBinary = (bytes: Buffer) => bytes.subarray(0, 8000).includes(0);

function linesWithUnseen(bytes: Buffer): readonly string[] {
  const isText = !isBinary(bytes);
  const lines = bytes
    .toString()
    .replace(/^\ufeff/, '') // the mark at the beginning of a file
    .split('\n');
  return lines.filter(
    (line) =>
      (isText && (BEGINS_ESCAPE.test(line) || isMisleading(line))) ||
      (line.match(UNSEEN) ?? []).some((character) => !HARMLESS.test(character)),
  );
}
