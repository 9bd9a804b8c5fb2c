import { calling, mustMatch, type Plot, type PlotCall, PlotError, type PlotResult } from './plot.ts';

/** A bug, and a test that finds it. */
export const PROJECT = {
  'add.sh': 'add() {\n  echo $(($1 - $2))\n}\n',
  'test.sh':
    '. ./add.sh\n[ "$(add 2 3)" = 5 ] || { echo "want 5, got $(add 2 3)" >&2; exit 1; }\necho "all tests pass"\n',
} as const;

export const TASK = 'sh test.sh fails. Find out why, mend it in a sandbox of its own and offer the work for review.';

export const MILESTONE = 'add adds';

const BROKEN = '  echo $(($1 - $2))';
const WORSE = '  echo $(($1 * $2))';
const MENDED = '  echo $(($1 + $2))';

/** What the person must find changed, and nothing else. */
export const CHANGED_LINES: readonly string[] = [`-${BROKEN}`, `+${MENDED}`];

/** The same with a test that needs a package, which is in the working tree alone. */
const NEEDY_PROJECT = {
  ...PROJECT,
  '.gitignore': 'node_modules\n',
  'package.json': '{ "devDependencies": { "tape": "1.0.0" } }\n',
  'package-lock.json': '{}\n',
  'test.sh': 'PATH="$PWD/node_modules/.bin:$PATH"\ntape\n',
} as const;

/** A project whose test needs a package that git ignores. */
export const NEEDY_STORY = {
  files: NEEDY_PROJECT,
  programs: { 'node_modules/.bin/tape': `#!/bin/sh\n${PROJECT['test.sh']}` },
} as const;

export interface Story {
  readonly title: string;
  /** What git tracks. */
  readonly files: Readonly<Record<string, string>>;
  /** Programs of the working tree that git ignores. */
  readonly programs: Readonly<Record<string, string>>;
  /** How many calls change files before the person merges. The story without any ends in a question to the person. */
  readonly changes: number;
  plot(): Plot;
}

/** A project that needs nothing but a shell. */
export const WHOLE = { files: PROJECT, programs: {} } as const;

export const STORIES: readonly Story[] = [
  { ...WHOLE, title: 'the whole job', changes: 1, plot: wholeJob },
  { ...WHOLE, title: 'the whole job, with mistakes', changes: 2, plot: withMistakes },
  {
    ...NEEDY_STORY,
    title: 'dependencies that are not inside',
    changes: 0,
    plot: withoutDependencies,
  },
];

/** Makes a sandbox, sees the test fail, reads what the test sources, mends it, sees the test pass, offers the work. */
function* wholeJob(): Plot {
  const sandbox = yield* created();
  const path = yield* understood(sandbox);
  yield* patched(sandbox, path, BROKEN, MENDED, 1);
  yield* offered(sandbox, 1);
  return 'Mended.';
}

/** Works before there is a sandbox, misspells its name, mends the wrong way, and goes on each time as the answer says. */
function* withMistakes(): Plot {
  const early = yield* calling('bash', { sandbox: 'mend-ad', command: 'sh test.sh' });
  mustMatch('bash before sandbox-create', early, /SANDBOX_NOT_FOUND: .+\nNext: Make one/);
  yield* created();
  const misspelt = yield* calling('bash', { sandbox: 'mend-ad', command: 'sh test.sh' });
  const advice = /SANDBOX_NOT_FOUND: .+\nNext: There are: ([a-z0-9-]+)\./;
  const [sandbox = ''] = mustMatch('bash in a misspelt sandbox', misspelt, advice);
  const path = yield* understood(sandbox);
  yield* patched(sandbox, path, BROKEN, WORSE, 1);
  const failed = yield* calling('bash', { sandbox, command: 'sh test.sh' });
  mustMatch('the test that still fails', failed, /^\[stderr\]\nwant 5, got 6\n\[exit code 1, /m);
  const stale = yield* calling('patch', { sandbox, path, diff: diffOf(2, BROKEN, MENDED) });
  mustMatch('a patch of what is no longer there', stale, /^[A-Z_]+: .+\nNext: .+/m);
  yield* patched(sandbox, path, WORSE, MENDED, 2);
  yield* offered(sandbox, 2);
  return 'Mended.';
}

/** Is told at the start what is missing and who can give it, and again by the test that fails for want of it; asks the person. */
function* withoutDependencies(): Plot {
  const answer = yield* calling('sandbox-create', { name: 'Mend add' });
  const [command = ''] = mustMatch('the note of sandbox-create', answer, DEPENDENCY_COMMAND);
  const failed = yield* calling('bash', { sandbox: 'mend-add', command: 'sh test.sh' });
  mustMatch(
    'the test without its package',
    failed,
    /tape: (?:command )?not found[^]*\[exit code 127, [^]*--include node_modules/,
  );
  return `Please run: ${command}`;
}

/** What the note of `sandbox-create` tells the person to run. */
export const DEPENDENCY_COMMAND = /(litterbox delete mend-add && litterbox create mend-add --include node_modules)/;

type Part<Result> = Generator<PlotCall, Result, PlotResult>;

function* created(): Part<string> {
  const answer = yield* calling('sandbox-create', { name: 'Mend add' });
  const [sandbox = ''] = mustMatch('sandbox-create', answer, /"name":\s*"([a-z0-9-]+)"/);
  return sandbox;
}

/** Runs the test and reads on from there. Gives the file that is to be mended. */
function* understood(sandbox: string): Part<string> {
  const failed = yield* calling('bash', { sandbox, command: 'sh test.sh' });
  mustMatch('the test that fails', failed, /^\[stderr\]\nwant 5, got -1\n\[exit code 1, [^\n]*nothing to record\]$/m);
  const tests = yield* calling('read', { sandbox, path: 'test.sh' });
  const [path = ''] = mustMatch('the file that the test sources', tests, /^\. \.\/(\S+)$/m);
  return path;
}

/** Reads a file and replaces a line of it, wherever that stands. */
function* patched(sandbox: string, path: string, from: string, to: string, revision: number): Part<void> {
  const wanted = PROJECT['add.sh'].replace(BROKEN, from);
  const source = yield* calling('read', { sandbox, path });
  const start = source.indexOf(wanted); // a client may put words of its own before it
  if (start === -1) throw new PlotError(`read: this is no plain text of the file: ${JSON.stringify(source)}`);
  const line = source.slice(start).split('\n').indexOf(from) + 1;
  const answer = yield* calling('patch', { sandbox, path, diff: diffOf(line, from, to) });
  const want = `[modified "add.sh": +1 -1 lines, recorded as revision ${revision} (1 file)]`;
  if (!answer.split('\n').includes(want)) throw new PlotError(`patch: want ${want}, got ${JSON.stringify(answer)}`);
}

const diffOf = (line: number, from: string, to: string) => `@@ -${line} +${line} @@\n-${from}\n+${to}\n`;

function* offered(sandbox: string, revisions: number): Part<void> {
  const passed = yield* calling('bash', { sandbox, command: 'sh test.sh' });
  mustMatch('the test that passes', passed, /^all tests pass\n\[exit code 0, [^\n]*nothing to record\]$/m);
  const answer = yield* calling('sandbox-milestone', { sandbox, message: MILESTONE });
  const [counted] = mustMatch('milestone', answer, /"branch":\s*"litterbox\/mend-add","revisions":\s*(\d+)/);
  if (Number(counted) !== revisions) throw new PlotError(`sandbox-milestone: ${revisions} revisions, not ${counted}`);
}
