import { agentPath, type AgentPath, assertShown } from '../domain/paths/agent-path.ts';
import { LitterboxError } from '../domain/errors/errors.ts';
import { decodeRaw } from '../domain/text/raw-text.ts';
import { shown } from '../domain/text/shown.ts';
import type { CallOptions } from '../ports/common/call.ts';
import { workspaceIs } from './file-contents.ts';
import type { OpenedSandbox } from '../channel/opened-sandbox.ts';

/** What a walk may say in all; a directory with more names than that is for a command inside. */
const MAX_NAMES_BYTES = 16 * 2 ** 20;
const WALK_TIMEOUT_MS = 60_000;

/** A name in a directory of a sandbox. */
export interface FoundName {
  /** Relative to where the walk began. */
  readonly path: string;
  /** A link is one whatever it leads to. */
  readonly type: 'file' | 'directory' | 'link';
}

/** How much a look into a directory left out, as far as that is known. */
export interface LeftOut {
  /** Hidden names, each with all below it. */
  readonly hidden: number;
  /** Directories that tools fill. */
  readonly filled: number;
  /** Names that the sandbox's user may not read. */
  readonly unread: number;
  /** Files that are no text, where text was wanted. */
  readonly binary?: number;
}

export interface Walk extends LeftOut {
  readonly root: AgentPath;
  /** Sorted by their characters' codes, so that the same tree always gives the same answer. */
  readonly found: readonly FoundName[];
  /** There were more names than were listened to. */
  readonly isCut: boolean;
}

/** Looks at the first argument and goes into it, or ends with the exit code that tells why not. */
const ENTER = `[ -e "$1" ] || exit 40
[ -d "$1" ] || exit 44
[ -r "$1" ] && cd "$1" || exit 45
`;
const CHILDREN = `${ENTER}for f in * .[!.]* ..?*; do
  if [ -h "$f" ]; then printf 'l%s\\0' "$f"; elif [ -d "$f" ]; then printf 'd%s\\0' "$f"; elif [ -e "$f" ]; then printf 'r%s\\0' "$f"; fi
done`;

/** Directories that tools fill and nobody reads in: who wants to look into one names it. */
const FILLED = '-type d \\( -name node_modules -o -name __pycache__ \\)';

/** Words of `find` that pass over what is hidden in the workspace, and over what tools filled. `tell` is a command for the names of each. */
export const passOver = (isHiddenLeftOut: boolean, tell: (kind: 'hidden' | 'filled') => string): string =>
  `${isHiddenLeftOut ? `-name '.?*' -prune -exec ${tell('hidden')} {} + -o ` : ''}${FILLED} -prune -exec ${tell('filled')} {} + -o`;
const printed = (kind: string) => `printf '${kind[0]}%s\\0'`;

/** What `find` says on standard error of names that it cannot read. */
export const UNREAD_LINE = /^find: /;

/** Names come with a letter for their type: of hidden and filled ones h and f. `printf` is a program here and gets many names at once. */
const filesScript = (isHiddenLeftOut: boolean) =>
  `${ENTER}find . ${passOver(isHiddenLeftOut, printed)} -type f -exec printf 'r%s\\0' {} +; :`;
/** A directory that is passed over is told of all the same. */
const treeScript = (isHiddenLeftOut: boolean) =>
  `${ENTER}find . ${isHiddenLeftOut ? `-name '.?*' -prune -exec ${printed('hidden')} {} + -o` : ''} ${FILLED} -exec printf 'd%s\\0' {} \\; -prune -o ! -name . -type d -exec printf 'd%s\\0' {} + -o -type l -exec printf 'l%s\\0' {} + -o ! -name . -exec printf 'r%s\\0' {} +; :`;

/**
 * The names below a directory, from programs inside the sandbox. Links are told of and never followed; hidden names of the
 * workspace are left out.
 *
 * @param depth `children` only, or everything below
 * @param withHidden hidden names of the workspace too
 * @throws LitterboxError `NOT_FOUND`, `NOT_A_DIRECTORY`, `PERMISSION_DENIED`, `PATH_HIDDEN`.
 */
export async function walkFiles(
  { channel }: OpenedSandbox,
  workdir: string,
  path: string,
  {
    depth,
    isFilesOnly = false,
    withHidden = false,
  }: { readonly depth: 'children' | 'all'; readonly isFilesOnly?: boolean; readonly withHidden?: boolean },
  options?: CallOptions,
): Promise<Walk> {
  const root = agentPath(workdir, path);
  const isHiddenLeftOut = root.isInWorkspace && !withHidden;
  if (isHiddenLeftOut) assertShown(root);
  const scriptOf = isFilesOnly ? filesScript : treeScript;
  const script = depth === 'children' ? CHILDREN : scriptOf(isHiddenLeftOut);
  const outcome = await channel.run(
    {
      argv: [root.absolute],
      script,
      timeoutMs: WALK_TIMEOUT_MS,
      maxOutputBytes: MAX_NAMES_BYTES,
      env: { LC_ALL: 'C' },
    },
    options,
  );
  if (outcome.interruption === 'abort') throw options?.signal?.reason;
  assertEntered(root, outcome.exit.code);
  const { bytes, droppedBytes, cutAt } = outcome.stdout;
  const text = decodeRaw(droppedBytes > 0 ? bytes.subarray(0, cutAt) : bytes);
  const records = text.split('\0').slice(0, -1); // after the last NUL is nothing, or the start of a name that was cut
  const isHidden = (record: string) =>
    isHiddenLeftOut && (record.startsWith('h') || record.slice(1).replace(/^\.\//, '').startsWith('.'));
  const isFilled = (record: string) => record.startsWith('f') && !isHidden(record);
  const shownRecords = records.filter((record) => !isHidden(record) && !isFilled(record));
  const found = shownRecords
    .map(
      (record): FoundName => ({ path: record.slice(1).replace(/^\.\//, ''), type: TYPES[record[0] ?? ''] ?? 'file' }),
    )
    .sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
  return {
    root,
    found,
    hidden: records.filter(isHidden).length,
    filled: records.filter(isFilled).length,
    unread: decodeRaw(outcome.stderr.bytes)
      .split('\n')
      .filter((line) => UNREAD_LINE.test(line)).length,
    isCut: droppedBytes > 0 || outcome.interruption !== undefined,
  };
}

const TYPES: Readonly<Record<string, FoundName['type']>> = { d: 'directory', l: 'link', r: 'file' };

/** Throws what the exit code of a script that begins by going into a directory tells. */
export function assertEntered(root: AgentPath, exitCode: number): void {
  const refuse = (code: 'NOT_FOUND' | 'NOT_A_DIRECTORY' | 'PERMISSION_DENIED', what: string) =>
    new LitterboxError(code, `${shown(root.shown)} ${what} in the sandbox.`, {
      operation: 'files.list',
      hint:
        code === 'NOT_A_DIRECTORY'
          ? 'Read a file with read.'
          : code === 'NOT_FOUND' && !root.isInWorkspace
            ? workspaceIs(root.workdir)
            : 'Look with ls at the directory above it.',
    });
  if (exitCode === 40) throw refuse('NOT_FOUND', 'does not exist');
  if (exitCode === 44) throw refuse('NOT_A_DIRECTORY', 'is not a directory');
  if (exitCode === 45) throw refuse('PERMISSION_DENIED', 'may not be entered');
}
