import type { ExecChannel } from '../../channel/exec-channel.ts';
import { quoted } from '../../channel/shell-text.ts';
import { agentPath, type AgentPath, assertShown } from '../../domain/paths/agent-path.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { globMatcher } from '../../domain/search/glob-pattern.ts';
import { decodeRaw, encodeRaw } from '../../domain/text/raw-text.ts';
import { searchPattern } from '../../domain/search/search-pattern.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import { type InspectSandbox } from './inspect-sandbox.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import { assertEntered, type LeftOut, passOver, UNREAD_LINE, walkFiles } from '../../inside/walk-files.ts';

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

export interface FoundLines extends Required<LeftOut> {
  readonly lines: readonly FoundLine[];
  /** There are more lines, or the time was up. */
  readonly isCut: boolean;
}

/** The bound on all lines together; a model reads a fraction of it. */
const MAX_FOUND_BYTES = 256 * 1024;
const MAX_LINES_PER_FILE = 500;
const SEARCH_TIMEOUT_MS = 60_000;
/** Names given to one `grep` by the channel's stdin. */
const BATCH_BYTES = 48 * 1024;

/** Says first whether names are those below a directory or that of the one file that was named. */
const ENTER = `[ -e "$1" ] || exit 40
if [ -d "$1" ]; then [ -r "$1" ] && cd "$1" || exit 45; set -- . "$2"; echo directory
elif [ -f "$1" ]; then cd "\${1%/*}/" || exit 45; set -- "./\${1##*/}" "$2"; echo file
else exit 42; fi
export p="$2"
`;

/** GNU's grep can end names with NUL, and knows what is no text. */
const gnuGreps = new WeakMap<ExecChannel, boolean>();

interface Needs {
  readonly inspectSandbox: InspectSandbox;
}

/** Searches the content of files of a sandbox, with `find` and `grep` inside it: linear in what is read, whatever the pattern. */
export class SearchFiles {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `PATTERN_*`, `GLOB_INVALID`, `NOT_FOUND`, `NOT_A_REGULAR_FILE`, `PATH_HIDDEN`. */
  async search(input: SearchFilesInput, options?: CallOptions): Promise<FoundLines> {
    const { sandbox, path, pattern, include, isCaseIgnored } = input;
    const { expression, ignoreCase } = searchPattern(pattern);
    const matches = include === undefined ? undefined : includeMatcher(include);
    return await this.#needs.inspectSandbox.inspect(
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
  /** Text of a shell that searches `"$@"` for `"$p"`. */
  readonly text: string;
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
  const flags = `-EHns${isGnu ? 'aZ' : ''}${isCaseIgnored ? 'i' : ''} -m ${MAX_LINES_PER_FILE}`;
  const text = `${TELL_UNREAD}\n${isGnu ? GNU_TEXTS : OTHER_TEXTS} grep ${flags} -e "$p" --`;
  return { text, expression, isGnu };
}

/** `head` ends everything as soon as there is enough. */
const LISTEN = `| head -c ${MAX_FOUND_BYTES}`;

/** The script reports left-out names on standard error, where nothing else has such lines. */
const tell = (kind: string) => `sh -c 'echo "${kind} $#" >&2' sh`;
const TOLD_LINE = /^(hidden|filled|unread|binary) (\d{1,9})$/;
/** Counts those of `"$@"` for which a test holds. */
const tellThose = (kind: string, test: string) =>
  `n=0; for f do if ${test}; then n=$((n + 1)); fi; done; [ $n = 0 ] || echo "${kind} $n" >&2`;
const TELL_UNREAD = tellThose('unread', '[ ! -r "$f" ]');

/**
 * A file is not text if there is a NUL near its beginning. GNU's grep finds that out by itself, and is then given the rest as text whatever
 * bytes that has: otherwise it gives a file up in its middle, without a word.
 */
const GNU_TEXTS = `grep -ILsZ -e '' -- "$@" | xargs -0 -r sh -c ${quoted(tellThose('binary', '[ -s "$f" ] && [ -r "$f" ]'))} sh
grep -IlsZ -e '' -- "$@" | xargs -0 -r`;

/** Prints the numbers of those of its arguments that are not text, in order, and counts them. Its input is what `head -v` gives of them. */
const NUMBER_BINARY = `function close_file() { if (is_binary) { print at; all++ } is_binary = 0 }
BEGIN { for (count = ARGC; i < count; i++) { name[i] = ARGV[i]; if (i > 0) ARGV[i] = "" } }
/^==> .* <==$/ {
  for (to = at + 1; to < count && $0 != "==> " name[to] " <=="; ) to++
  if (to < count) { close_file(); at = to; next }
}
/\\001/ { is_binary = 1 }
END { close_file(); if (all) print "binary " all > "/dev/stderr" }`;
/** Other greps search each line as far as a NUL, so they are not given such files at all. */
const OTHER_TEXTS = `head -v -c 512 "$@" 2>/dev/null | tr '\\000' '\\001' | awk ${quoted(NUMBER_BINARY)} "$@" | {
read -r binary; n=0
for f do n=$((n + 1)); if [ "$n" = "$binary" ]; then read -r binary; else printf '%s\\0' "$f"; fi; done
} | xargs -0 -r`;

async function searchAll(
  opened: OpenedSandbox,
  root: AgentPath,
  grep: Grep,
  options?: CallOptions,
): Promise<FoundLines> {
  const script = `${ENTER}find "$1" ${passOver(root.isInWorkspace, tell)} -type f -exec sh -c ${quoted(grep.text)} sh {} + ${LISTEN}`;
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
  const script = `${ENTER}xargs -0 -r sh -c ${quoted(grep.text)} sh ${LISTEN}`;
  const lines: FoundLine[] = [];
  let { isCut, unread } = walk;
  let binary = 0;
  for (const names of batches(walk.found.map((one) => one.path).filter(matches))) {
    const found = await listen(opened, root, script, grep, names, options);
    lines.push(...found.lines);
    unread += found.unread;
    binary += found.binary;
    isCut ||= found.isCut;
    if (found.isCut) break;
  }
  return { lines, hidden: walk.hidden, filled: walk.filled, unread, binary, isCut };
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
  const said = told.filter((line) => !TOLD_LINE.test(line) && !UNREAD_LINE.test(line)).join('\n');
  if (!decodeRaw(stdout.bytes).trim().includes('\n') && said.startsWith('grep:'))
    throw new LitterboxError('PATTERN_INVALID', `grep in the sandbox refuses the pattern: ${said.slice(0, 200)}`, {
      operation: 'files.search',
      hint: 'Simplify it.',
    });
  const lines = [...parseLines(decodeRaw(stdout.bytes), isGnu, root)].sort(inOrder);
  const sum = (kind: string) =>
    told.reduce((all, line) => {
      const [, of, count] = TOLD_LINE.exec(line) ?? [];
      return all + (of === kind ? Number(count) : 0);
    }, 0);
  return {
    lines,
    hidden: sum('hidden'),
    filled: sum('filled'),
    unread: sum('unread') + told.filter((line) => UNREAD_LINE.test(line)).length,
    binary: sum('binary'),
    isCut: stdout.bytes.length >= MAX_FOUND_BYTES || interruption !== undefined,
  };
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
