import { agentPath, assertShown } from '../../domain/paths/agent-path.ts';
import { fileKind } from '../../domain/text/file-kind.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import { ASSERT_FILE, assertFileDone, readStart } from '../../inside/file-contents.ts';
import { type InspectSandbox } from './inspect-sandbox.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';

export interface ReadLinesInput {
  readonly sandbox: string;
  readonly path: string;
  /** Lines to skip: the index of the first one, from 0. */
  readonly offset: number;
  /** At most so many lines. */
  readonly limit: number;
}

/** Some lines of a file, and how much there is around them. */
export interface LineSlice {
  /** The path's name in answers. */
  readonly path: string;
  /** The lines as they are, their ends included, at most 128 KiB. */
  readonly bytes: Uint8Array;
  /** How many lines that is; a last one without its end counts. */
  readonly lines: number;
  /** Bytes of the whole file. */
  readonly fileBytes: number;
  /** Lines of the whole file; absent when it is too large to count them. */
  readonly fileLines?: number;
  /** Something follows the slice. */
  readonly hasMore: boolean;
  /** The last line of the slice is longer than what is given of it. */
  readonly isLineCut: boolean;
  /** The first bytes of the file, which tell its kind. */
  readonly start: Uint8Array;
  /** The whole file, when it is a picture that was read from its first line on, and not larger than a model may be shown. */
  readonly image?: { readonly mimeType: string; readonly bytes: Uint8Array };
}

/** More than a model is shown in one answer, and not so much more. */
const MAX_SLICE_BYTES = 128 * 1024;
/** In base64 that is what models take of one picture: 5 MB. */
const MAX_IMAGE_BYTES = 3_750_000;
const START_BYTES = 64;
/** Files up to here arrive as a whole, in one call. */
const WHOLE_BYTES = 512 * 1024;
/** Lines of larger files are not counted. */
const COUNTED_BYTES = 64 * 2 ** 20;

/** Prints the size, a newline and the slice; `tail` and `head` read no further than they have to, and neither does `stat`. */
const SLICE_SCRIPT = `${ASSERT_FILE}s=$(stat -L -c %s "$1" 2>/dev/null) || s=$(wc -c <"$1") || exit 1
if [ "$s" -le ${COUNTED_BYTES} ]; then l=$(wc -l <"$1"); else l=-1; fi
echo $s $l
tail -n +"$2" <"$1" | head -n "$3" | head -c ${MAX_SLICE_BYTES + 1}`;

interface Needs {
  readonly inspectSandbox: InspectSandbox;
}

/** Reads some lines of a file, whatever bytes they are. */
export class ReadLines {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `PATH_HIDDEN`, `NOT_FOUND`, `IS_A_DIRECTORY`, `NOT_A_REGULAR_FILE`, `NOT_A_DIRECTORY`. */
  async read({ sandbox, path, offset, limit }: ReadLinesInput, options?: CallOptions): Promise<LineSlice> {
    return await this.#needs.inspectSandbox.inspect(
      {
        sandbox,
        operation: 'sandbox-read',
        input: { path: path.slice(0, 4096), offset, limit },
        async look(opened, { workdir }) {
          const target = agentPath(workdir, path);
          assertShown(target);
          const start = await readStart(opened, target.absolute, WHOLE_BYTES + 1, options);
          const slice =
            start.length <= WHOLE_BYTES
              ? sliceOf(start, offset, limit)
              : await readSlice(opened, target.absolute, offset, limit, options);
          const image =
            offset === 0 ? await readImage(opened, target.absolute, start, slice.fileBytes, options) : undefined;
          return { path: target.shown, ...slice, start: start.subarray(0, START_BYTES), ...(image && { image }) };
        },
      },
      options,
    );
  }
}

async function readImage(
  opened: OpenedSandbox,
  target: string,
  start: Uint8Array,
  fileBytes: number,
  options?: CallOptions,
): Promise<LineSlice['image']> {
  const mimeType = fileKind(start)?.imageType;
  if (mimeType === undefined || fileBytes > MAX_IMAGE_BYTES) return undefined;
  const isWhole = start.length === fileBytes;
  return { mimeType, bytes: isWhole ? start : await readStart(opened, target, MAX_IMAGE_BYTES, options) };
}

const NEWLINE = 10;

function sliceOf(file: Uint8Array, offset: number, limit: number): Omit<LineSlice, 'path' | 'start'> {
  const ends = lineEnds(file);
  const from = offset === 0 ? 0 : (ends[Math.min(offset, ends.length) - 1] ?? 0);
  const to = ends[Math.min(offset + limit, ends.length) - 1] ?? 0;
  return {
    ...bounded(file.subarray(from, Math.max(from, to)), file.length > to),
    fileBytes: file.length,
    fileLines: ends.length,
  };
}

async function readSlice(
  { channel, runtime }: OpenedSandbox,
  target: string,
  offset: number,
  limit: number,
  options?: CallOptions,
): Promise<Omit<LineSlice, 'path' | 'start'>> {
  const outcome = await channel.run(
    {
      argv: [target, String(offset + 1), String(limit)],
      script: SLICE_SCRIPT,
      timeoutMs: 60_000,
      maxOutputBytes: 2 * MAX_SLICE_BYTES,
    },
    options,
  );
  assertFileDone('file.read', target, outcome, runtime, options);
  const all = outcome.stdout.bytes;
  const headerEnd = all.indexOf(NEWLINE) + 1;
  const [size, newlines] = decodeRaw(all.subarray(0, headerEnd)).trim().split(/\s+/).map(Number);
  const fileBytes = size ?? 0;
  const bytes = all.subarray(headerEnd);
  const lines = bytes.length === 0 ? 0 : lineEnds(bytes).length;
  const fileLines = newlines !== undefined && newlines >= 0 ? newlines : undefined;
  const hasMore = fileLines === undefined ? bytes.length > 0 : offset + lines < fileLines;
  return {
    ...bounded(bytes, hasMore),
    fileBytes,
    ...(fileLines !== undefined && { fileLines }),
  };
}

/** Whole lines as far as they fit; of a first line that does not, the start. */
function bounded(bytes: Uint8Array, hasMore: boolean): Pick<LineSlice, 'bytes' | 'lines' | 'hasMore' | 'isLineCut'> {
  if (bytes.length <= MAX_SLICE_BYTES) return { bytes, lines: lineEnds(bytes).length, hasMore, isLineCut: false };
  const end = bytes.subarray(0, MAX_SLICE_BYTES).lastIndexOf(NEWLINE) + 1;
  const kept = bytes.subarray(0, end === 0 ? wholeCharacters(bytes) : end);
  return { bytes: kept, lines: lineEnds(kept).length, hasMore: true, isLineCut: end === 0 };
}

/** Does not cut a character of UTF-8 in two. */
function wholeCharacters(bytes: Uint8Array): number {
  let end = MAX_SLICE_BYTES;
  while (end > MAX_SLICE_BYTES - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** Where each line ends, its newline included; a last line without one ends with the bytes. */
function lineEnds(bytes: Uint8Array): readonly number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(at + 1);
  if (bytes.length > (ends.at(-1) ?? 0)) ends.push(bytes.length);
  return ends;
}
