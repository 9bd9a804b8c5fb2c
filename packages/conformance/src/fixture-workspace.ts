import { type WorkspaceSource, encodeRaw } from '@litterbox/core/provider';
import { joined } from './collected.ts';

/** A file of a workspace that is made for a test: with content, or a link when `linkTarget` is given. */
export interface FixtureFile {
  /** Text as in core's `raw-text.ts`. */
  readonly path: string;
  readonly content?: string;
  readonly executable?: boolean;
  readonly linkTarget?: string;
}

/**
 * A workspace as a tar stream, made by hand so that the kit needs no package.
 *
 * @param others what differs from every other workspace; all of it without
 */
export function fixtureWorkspace(
  key: string,
  files: readonly FixtureFile[],
  others: readonly FixtureFile[] = files,
): WorkspaceSource {
  const streamed = (bytes: Uint8Array) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    });
  return {
    key,
    open: () => streamed(fixtureArchive(files)),
    openUnlike: (_key, timeSeconds) => streamed(fixtureArchive(others, true, timeSeconds)),
  };
}

/** The same as one piece, with or without entries for the directories above the files. */
export function fixtureArchive(
  files: readonly FixtureFile[],
  hasDirectories = true,
  timeSeconds = 2 ** 30 * 1.5,
): Uint8Array {
  const entries = (hasDirectories ? withDirectories(files) : files).map((file) => entry(file, timeSeconds));
  return joined([...entries, new Uint8Array(1024)]);
}

/** One that ends in an error after its first bytes. */
export function brokenWorkspace(key: string, error: Error): WorkspaceSource {
  return {
    key,
    open: () => {
      let isFirst = true;
      return new ReadableStream<Uint8Array>({
        pull(controller) {
          if (isFirst) controller.enqueue(entry({ path: 'first', content: 'first' }));
          else controller.error(error);
          isFirst = false;
        },
      });
    },
  };
}

type Entry = FixtureFile & { readonly isDirectory?: boolean };

function withDirectories(files: readonly FixtureFile[]): readonly Entry[] {
  const directories = new Set<string>();
  for (const { path } of files)
    for (let cut = path.indexOf('/'); cut !== -1; cut = path.indexOf('/', cut + 1)) directories.add(path.slice(0, cut));
  return [...[...directories].sort().map((path) => ({ path, isDirectory: true })), ...files];
}

/** GNU's layout: a name beyond 100 bytes goes ahead in an entry of type `L`. @see https://www.gnu.org/software/tar/manual/html_node/Standard.html */
function entry(
  { path, content = '', executable = false, linkTarget, isDirectory = false }: Entry,
  timeSeconds = 2 ** 30 * 1.5,
): Uint8Array {
  const name = encodeRaw(isDirectory ? `${path}/` : path);
  const body = linkTarget === undefined && !isDirectory ? encodeRaw(content) : new Uint8Array();
  const type = isDirectory ? '5' : linkTarget === undefined ? '0' : '2';
  const mode = linkTarget !== undefined ? 0o777 : isDirectory || executable ? 0o755 : 0o644;
  const own = [
    header(name.slice(0, 100), type, mode, body.length, encodeRaw(linkTarget ?? ''), timeSeconds),
    padded(body),
  ];
  return name.length <= 100
    ? joined(own)
    : joined([
        header(encodeRaw('././@LongLink'), 'L', 0o644, name.length + 1, new Uint8Array(), timeSeconds),
        padded(joined([name, new Uint8Array(1)])),
        ...own,
      ]);
}

function header(
  name: Uint8Array,
  type: string,
  mode: number,
  sizeBytes: number,
  linkTarget: Uint8Array,
  timeSeconds: number,
): Uint8Array {
  const block = new Uint8Array(512);
  const put = (text: string, at: number) => block.set(encodeRaw(text), at);
  block.set(name, 0);
  put(mode.toString(8).padStart(7, '0'), 100);
  put('0000000', 108);
  put('0000000', 116);
  put(sizeBytes.toString(8).padStart(11, '0'), 124);
  put(timeSeconds.toString(8).padStart(11, '0'), 136);
  put('        ', 148);
  put(type, 156);
  block.set(linkTarget, 157);
  put('ustar  ', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function padded(bytes: Uint8Array): Uint8Array {
  return joined([bytes, new Uint8Array((512 - (bytes.length % 512)) % 512)]);
}
