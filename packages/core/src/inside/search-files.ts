import type { ExecChannel } from '../channel/exec-channel.ts';
import { agentPath, type AgentPath, assertShown } from '../domain/agent-path.ts';
import { LitterboxError } from '../domain/errors.ts';
import { globMatcher } from '../domain/glob-pattern.ts';
import { decodeRaw, encodeRaw } from '../domain/raw-text.ts';
import { searchPattern } from '../domain/search-pattern.ts';
import type { CallOptions } from '../ports/call.ts';
import { type InspectSandbox } from '../use-cases/inspect-sandbox.ts';
import { type OpenedSandbox } from '../use-cases/open-sandboxes.ts';
import { assertEntered, passOver, walkFiles } from './walk-files.ts';

export interface SearchFilesInput {
  readonly sandbox: string;
  /** A regular expression, as `searchPattern` takes it. */
  readonly pattern: string;
  /** A directory, or one file. */
  readonly path: string;
  /** Only files whose path below `path` matches; a pattern without a slash is compared with names. */
  readonly include?: string | undefined;
  readonly isCaseIgnored: boolean;
}

/** One line that a search found. */
export interface FoundLine {
  /** Relative to the workspace, or absolute outside. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface FoundLines {
  readonly lines: readonly FoundLine[];
  /** How many hidden names were passed over, as far as that is known. */
  readonly hidden: number;
  /** There are more lines, or the time was up. */
  readonly isCut: boolean;
}

/** What is taken of all lines together; a model reads a fraction of it. */
const MAX_FOUND_BYTES = 256 * 1024;
const MAX_LINES_PER_FILE = 500;
const SEARCH_TIMEOUT_MS = 60_000;
/** Names given to one `grep` by the channel's stdin. */
const BATCH_BYTES = 48 * 1024;

/** Says first whether names are those below a directory or that of the one file that was named. */
const ENTER = `[ -e "$1" ] || exit 40
if [ -d "$1" ]; then cd "$1" || exit 45; set -- . "$2"; echo directory
elif [ -f "$1" ]; then cd "\${1%/*}/" || exit 45; set -- "./\${1##*/}" "$2"; echo file
else exit 42; fi
`;

/** GNU's grep can end names with NUL and leave binary files out; others get neither, and no file is given up for it. */
const gnuGreps = new WeakMap<ExecChannel, boolean>();

/** Searches the content of files of a sandbox, with `find` and `grep` inside it: linear in what is read, whatever the pattern. */
export class SearchFiles {
  readonly #inspect: InspectSandbox;

  constructor(inspect: InspectSandbox) {
    this.#inspect = inspect;
  }

  /** @throws LitterboxError `PATTERN_*`, `GLOB_INVALID`, `NOT_FOUND`, `NOT_A_REGULAR_FILE`, `PATH_HIDDEN`. */
  async execute(input: SearchFilesInput, options?: CallOptions): Promise<FoundLines> {
    const { sandbox, path, pattern, include, isCaseIgnored } = input;
    const { expression, ignoreCase } = searchPattern(pattern);
    const matches = include === undefined ? undefined : includeMatcher(include);
    return await this.#inspect.execute(
      {
        sandbox,
        operation: 'sandbox-grep',
        input: { path: path.slice(0, 4096), pattern: pattern.slice(0, 4096), ...(include && { include }) },
        async look(opened, { workdir }) {
          const root = agentPath(workdir, path);
          assertShown(root);
          const grep = await grepCommand(opened.channel, expression, ignoreCase || isCaseIgnored, options);
          return matches
            ? await searchMatching(opened, root, workdir, grep, matches, options)
            : await searchAll(opened, root, grep, options);
        },
      },
      options,
    );
  }
}

interface Grep {
  /** Words of a shell, with the pattern as `"$2"`. */
  readonly words: string;
  readonly expression: string;
  readonly isGnu: boolean;
}

async function grepCommand(
  channel: ExecChannel,
  expression: string,
  isCaseIgnored: boolean,
  options?: CallOptions,
): Promise<Grep> {
  let isGnu = gnuGreps.get(channel);
  if (isGnu === undefined) {
    const { exit } = await channel.run(
      { argv: ['grep', '-EIZ', '-e', 'x', '/dev/null'], maxOutputBytes: 4096 },
      options,
    );
    isGnu = exit.code === 1;
    gnuGreps.set(channel, isGnu);
  }
  const flags = `-EHns${isGnu ? 'IZ' : ''}${isCaseIgnored ? 'i' : ''} -m ${MAX_LINES_PER_FILE}`;
  return { words: `grep ${flags} -e "$2" --`, expression, isGnu };
}

/** `head` ends everything as soon as there is enough. */
const LISTEN = `| head -c ${MAX_FOUND_BYTES}`;

/** On standard error, where nothing else has such lines. */
const TELL_HIDDEN = `sh -c 'echo "hidden $#" >&2' sh {} +`;
const HIDDEN_LINE = /^hidden (\d{1,9})$/;

async function searchAll(
  opened: OpenedSandbox,
  root: AgentPath,
  grep: Grep,
  options?: CallOptions,
): Promise<FoundLines> {
  const script = `${ENTER}find "$1" ${passOver(root.isInWorkspace, TELL_HIDDEN)} -type f -exec sh -c 'p=$1; shift; exec ${grep.words.replace('"$2"', '"$p"')} "$@"' sh "$2" {} + ${LISTEN}`;
  return await listen(opened, root, script, grep, undefined, options);
}

async function searchMatching(
  opened: OpenedSandbox,
  root: AgentPath,
  workdir: string,
  grep: Grep,
  matches: (path: string) => boolean,
  options?: CallOptions,
): Promise<FoundLines> {
  const walk = await walkFiles(opened, workdir, root.absolute, { depth: 'all', isFilesOnly: true }, options);
  const script = `${ENTER}xargs -0 sh -c 'p=$1; shift; [ $# -eq 0 ] || exec ${grep.words.replace('"$2"', '"$p"')} "$@"' sh "$2" ${LISTEN}`;
  const lines: FoundLine[] = [];
  let isCut = walk.isCut;
  for (const names of batches(walk.found.map((one) => one.path).filter(matches))) {
    const found = await listen(opened, root, script, grep, names, options);
    lines.push(...found.lines);
    isCut ||= found.isCut;
    if (found.isCut) break;
  }
  return { lines, hidden: walk.hidden, isCut };
}

async function listen(
  { channel }: OpenedSandbox,
  root: AgentPath,
  script: string,
  { expression, isGnu }: Grep,
  stdin: Uint8Array | undefined,
  options?: CallOptions,
): Promise<FoundLines> {
  const { exit, stdout, stderr, interruption } = await channel.run(
    {
      argv: [root.absolute, expression],
      script,
      timeoutMs: SEARCH_TIMEOUT_MS,
      maxOutputBytes: 2 * MAX_FOUND_BYTES,
      env: { LC_ALL: 'C.UTF-8' },
      ...(stdin && { stdin }),
    },
    options,
  );
  if (interruption === 'abort') throw options?.signal?.reason;
  if (exit.code === 42)
    throw new LitterboxError('NOT_A_REGULAR_FILE', `${JSON.stringify(root.shown)} is neither file nor directory.`, {
      operation: 'files.search',
      hint: 'Name a directory or a regular file.',
    });
  assertEntered(root, exit.code);
  const told = decodeRaw(stderr.bytes).trim().split('\n');
  const said = told.filter((line) => !HIDDEN_LINE.test(line)).join('\n');
  if (!decodeRaw(stdout.bytes).trim().includes('\n') && said.startsWith('grep:'))
    throw new LitterboxError('PATTERN_INVALID', `grep in the sandbox refuses the pattern: ${said.slice(0, 200)}`, {
      operation: 'files.search',
      hint: 'Simplify it.',
    });
  const lines = [...parseLines(decodeRaw(stdout.bytes), isGnu, root)].sort(inOrder);
  const hidden = told.reduce((sum, line) => sum + Number(HIDDEN_LINE.exec(line)?.[1] ?? 0), 0);
  return { lines, hidden, isCut: stdout.bytes.length >= MAX_FOUND_BYTES || interruption !== undefined };
}

/** `name NUL line:text` of GNU's grep, `name:line:text` of others. What is no such line is the rest of a name with a newline. */
function parseLines(text: string, isGnu: boolean, root: AgentPath): readonly FoundLine[] {
  const form = isGnu ? /^([^\0]*)\0(\d+):(.*)$/s : /^(.*?):(\d+):(.*)$/s;
  const [kind, ...rows] = text.split('\n');
  const base = root.shown === '.' ? '' : `${root.shown.replace(/\/$/, '')}/`;
  return rows.flatMap((row) => {
    const [, name = '', line = '', found = ''] = form.exec(row) ?? [];
    if (line === '') return [];
    const path = kind === 'file' ? root.shown : base + name.replace(/^\.\//, '');
    return { path, line: Number(line), text: found };
  });
}

/** `find` tells names in the order of the file system; answers are the same everywhere. */
function inOrder(left: FoundLine, right: FoundLine): number {
  if (left.path !== right.path) return left.path < right.path ? -1 : 1;
  return left.line - right.line;
}

function includeMatcher(include: string): (path: string) => boolean {
  const matches = globMatcher(include);
  return include.includes('/') ? matches : (path) => matches(path.slice(path.lastIndexOf('/') + 1));
}

function* batches(paths: readonly string[]): Generator<Uint8Array, void, undefined> {
  let batch = '';
  for (const path of paths) {
    if (batch.length > BATCH_BYTES) {
      yield encodeRaw(batch);
      batch = '';
    }
    batch += `./${path}\0`;
  }
  if (batch !== '') yield encodeRaw(batch);
}
