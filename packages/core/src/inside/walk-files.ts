import { agentPath, type AgentPath, assertShown } from '../domain/agent-path.ts';
import { LitterboxError } from '../domain/errors.ts';
import { decodeRaw } from '../domain/raw-text.ts';
import { shown } from '../domain/shown.ts';
import type { CallOptions } from '../ports/call.ts';
import { workspaceIs } from './file-contents.ts';
import { type OpenedSandbox } from '../use-cases/open-sandboxes.ts';

/** What a walk may say in all; a directory with more names than that is for a command inside. */
const MAX_NAMES_BYTES = 16 * 2 ** 20;
const WALK_TIMEOUT_MS = 60_000;

export interface FoundName {
  /** Relative to where the walk began. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link';
}

export interface Walk {
  readonly root: AgentPath;
  /** Sorted by their characters' codes, so that the same tree always gives the same answer. */
  readonly found: readonly FoundName[];
  /** How many hidden names were passed over, each with all below it. */
  readonly hidden: number;
  /** There were more names than were listened to. */
  readonly isCut: boolean;
}

/** Looks at the first argument and goes into it, or ends with the exit code that tells why not. */
const ENTER = `[ -e "$1" ] || exit 40
[ -d "$1" ] || exit 44
cd "$1" || exit 45
`;
const CHILDREN = `${ENTER}for f in * .[!.]* ..?*; do
  if [ -h "$f" ]; then printf 'l%s\\0' "$f"; elif [ -d "$f" ]; then printf 'd%s\\0' "$f"; elif [ -e "$f" ]; then printf 'f%s\\0' "$f"; fi
done`;

/** Directories that tools fill and nobody reads in: who wants to look into one names it. */
const FILLED = '-type d \\( -name node_modules -o -name __pycache__ \\)';

/**
 * Words of `find` that pass over what is hidden in the workspace, and over what tools filled.
 *
 * @param onHidden what is done with hidden names: a command that ends with `{} +`
 */
export const passOver = (isHiddenLeftOut: boolean, onHidden: string): string =>
  `${isHiddenLeftOut ? `-name '.?*' -prune -exec ${onHidden} -o ` : ''}${FILLED} -prune -o`;
const COUNT_HIDDEN = "printf 'h%s\\0' {} +";

/** Names come with a letter for their type. `printf` is a program here and gets many names at once. */
const filesScript = (isHiddenLeftOut: boolean) =>
  `${ENTER}find . ${passOver(isHiddenLeftOut, COUNT_HIDDEN)} -type f -exec printf 'f%s\\0' {} + 2>/dev/null; :`;
/** A directory that is passed over is told of all the same. */
const treeScript = (isHiddenLeftOut: boolean) =>
  `${ENTER}find . ${isHiddenLeftOut ? `-name '.?*' -prune -exec ${COUNT_HIDDEN} -o` : ''} ${FILLED} -exec printf 'd%s\\0' {} \\; -prune -o ! -name . -type d -exec printf 'd%s\\0' {} + -o -type l -exec printf 'l%s\\0' {} + -o ! -name . -exec printf 'f%s\\0' {} + 2>/dev/null; :`;

/**
 * The names below a directory, from programs inside the sandbox. Links are told of and never followed; hidden names of the
 * workspace are left out.
 *
 * @param depth `children` only, or everything below
 * @throws LitterboxError `NOT_FOUND`, `NOT_A_DIRECTORY`, `PERMISSION_DENIED`, `PATH_HIDDEN`.
 */
export async function walkFiles(
  { channel }: OpenedSandbox,
  workdir: string,
  path: string,
  { depth, isFilesOnly = false }: { readonly depth: 'children' | 'all'; readonly isFilesOnly?: boolean },
  options?: CallOptions,
): Promise<Walk> {
  const root = agentPath(workdir, path);
  assertShown(root);
  const scriptOf = isFilesOnly ? filesScript : treeScript;
  const script = depth === 'children' ? CHILDREN : scriptOf(root.isInWorkspace);
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
  const isShown = (record: string) =>
    !root.isInWorkspace || (!record.startsWith('h') && !record.slice(1).replace(/^\.\//, '').startsWith('.'));
  const shownRecords = records.filter(isShown);
  const found = shownRecords
    .map(
      (record): FoundName => ({ path: record.slice(1).replace(/^\.\//, ''), type: TYPES[record[0] ?? ''] ?? 'file' }),
    )
    .sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
  return {
    root,
    found,
    hidden: records.length - shownRecords.length,
    isCut: droppedBytes > 0 || outcome.interruption !== undefined,
  };
}

const TYPES: Readonly<Record<string, FoundName['type']>> = { d: 'directory', l: 'link', f: 'file' };

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
