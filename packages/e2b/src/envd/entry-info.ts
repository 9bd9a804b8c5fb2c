import { isLitterboxError, LitterboxError, type Sandbox } from 'litterbox';

type Status = Awaited<ReturnType<Sandbox['files']['stat']>>;
/** So many looks at once. */
const LOOKS = 8;
const TYPES = { file: 'FILE_TYPE_FILE', directory: 'FILE_TYPE_DIRECTORY' } as const;

/** An entry of the protocol for a path. @param path absolute inside @throws LitterboxError `NOT_FOUND` */
export async function entryInfo({ files }: Sandbox, path: string, signal: AbortSignal): Promise<object> {
  return viewOf(path, await files.stat(path, { signal }));
}

function viewOf(path: string, { type, isLink, sizeBytes, modifiedMs, access, linkTarget }: Status): object {
  const letter = isLink ? 'L' : type === 'directory' ? 'd' : '-';
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    // A link has the type of its target, and one that leads nowhere its own.
    type: type === 'other' ? (isLink ? 'FILE_TYPE_SYMLINK' : 'FILE_TYPE_UNSPECIFIED') : TYPES[type],
    path,
    size: String(sizeBytes),
    mode: access?.mode ?? 0,
    permissions: access === undefined ? '' : `${letter}${bitsOf(access.mode)}`,
    owner: access?.owner ?? '',
    group: access?.group ?? '',
    modifiedTime: new Date(modifiedMs).toISOString(),
    ...(linkTarget !== undefined && { symlinkTarget: linkTarget }),
  };
}

/** Such as rwxr-xr-x. */
const bitsOf = (mode: number): string =>
  [6, 3, 0]
    .flatMap((shift) => ['r', 'w', 'x'].map((letter, bit) => (((mode >> shift) & (4 >> bit)) === 0 ? '-' : letter)))
    .join('');

/**
 * Entries of a directory and, with a depth, below it; links are not followed. Names that go away during the look are left out.
 *
 * @param depth 1 is the directory itself
 * @throws LitterboxError `RESOURCE_EXHAUSTED` where there are more than `maxNames`: the protocol cannot say that an answer is cut
 */
export async function entriesBelow(
  sandbox: Sandbox,
  path: string,
  { depth, maxNames, signal }: { readonly depth: number; readonly maxNames: number; readonly signal: AbortSignal },
): Promise<readonly object[]> {
  const paths: string[] = [];
  const walk = async (directory: string, left: number): Promise<void> => {
    for (const { path: name, type } of await sandbox.files.list(directory, { signal })) {
      if (paths.length >= maxNames)
        throw new LitterboxError('RESOURCE_EXHAUSTED', `${JSON.stringify(path)} holds more than ${maxNames} names.`, {
          operation: 'e2b.files',
          hint: 'List directories below it one by one, or run find in the sandbox.',
        });
      const inside = `${directory === '/' ? '' : directory}/${name}`;
      paths.push(inside);
      if (type === 'directory' && left > 1) await walk(inside, left - 1);
    }
  };
  await walk(path, depth);
  const entries: (object | undefined)[] = [];
  const next = paths.entries();
  const look = async () => {
    for (const [at, one] of next) entries[at] = await entryInfo(sandbox, one, signal).catch(noneWhereNotFound);
  };
  await Promise.all(Array.from({ length: LOOKS }, look));
  return entries.filter((entry) => entry !== undefined);
}

function noneWhereNotFound(error: unknown): undefined {
  if (isLitterboxError(error) && error.code === 'NOT_FOUND') return undefined;
  throw error;
}
