import { calling, mustMatch, type PlotCall, type Plot, PlotError, type PlotResult } from './plot.ts';

/** A bug, and a test that finds it. */
export const PROJECT = {
  'add.sh': 'add() {\n  echo $(($1 - $2))\n}\n',
  'test.sh':
    '. ./add.sh\n[ "$(add 2 3)" = 5 ] || { echo "want 5, got $(add 2 3)" >&2; exit 1; }\necho "all tests pass"\n',
} as const;

export const TASK = 'sh test.sh fails. Find out why, mend it in a sandbox of its own and offer the work for review.';

export const MILESTONE = 'add adds';

const BROKEN = '  echo $(($1 - $2))';
const MENDED = '  echo $(($1 + $2))';

/** What the person must find changed, and nothing else. */
export const CHANGED_LINES: readonly string[] = [`-${BROKEN}`, `+${MENDED}`];

/** Makes a sandbox, sees the test fail, reads what the test sources, mends it, sees the test pass, offers the work. */
export function* mendAdd(): Plot {
  yield* mendIn(yield* created());
  return 'Mended.';
}

/** Works before there is a sandbox, then in one whose name is misspelt, and goes on each time as the error says. */
export function* wrongName(): Plot {
  const early = yield* calling('bash', { sandbox: 'mend-ad', command: 'sh test.sh' });
  mustMatch('bash before sandbox-create', early, /SANDBOX_NOT_FOUND: .+\nNext: Make one/);
  yield* created();
  const misspelt = yield* calling('bash', { sandbox: 'mend-ad', command: 'sh test.sh' });
  const [sandbox = ''] = mustMatch(
    'bash in a misspelt sandbox',
    misspelt,
    /SANDBOX_NOT_FOUND: .+\nNext: There are: ([a-z0-9-]+)\./,
  );
  yield* mendIn(sandbox);
  return 'Mended.';
}

function* created(): Generator<PlotCall, string, PlotResult> {
  const answer = yield* calling('sandbox-create', { name: 'Mend add' });
  const [sandbox = ''] = mustMatch('sandbox-create', answer, /"name":\s*"([a-z0-9-]+)"/);
  return sandbox;
}

function* mendIn(sandbox: string): Generator<PlotCall, void, PlotResult> {
  const failed = yield* calling('bash', { sandbox, command: 'sh test.sh' });
  mustMatch('the test that fails', failed, /^\[stderr\]\nwant 5, got -1\n\[exit code 1, [^\n]*nothing to record\]$/m);

  const tests = yield* calling('read', { sandbox, path: 'test.sh' });
  const [path = ''] = mustMatch('the file that the test sources', tests, /^\. \.\/(\S+)$/m);
  const source = yield* calling('read', { sandbox, path });
  if (!source.includes(PROJECT['add.sh'])) throw new PlotError(`read: no plain text: ${JSON.stringify(source)}`);

  const at = source.slice(source.indexOf(PROJECT['add.sh'])).split('\n').indexOf(BROKEN) + 1;
  const diff = `@@ -${at} +${at} @@\n-${BROKEN}\n+${MENDED}\n`;
  const patched = yield* calling('patch', { sandbox, path, diff });
  mustMatch('patch', patched, /^\[modified "add\.sh": \+1 -1 lines, recorded as revision 1 \(1 file\)\]$/m);

  const passed = yield* calling('bash', { sandbox, command: 'sh test.sh' });
  mustMatch('the test that passes', passed, /^all tests pass\n\[exit code 0, [^\n]*nothing to record\]$/m);

  const offered = yield* calling('sandbox-milestone', { sandbox, message: MILESTONE });
  mustMatch('sandbox-milestone', offered, /"branch":\s*"litterbox\/mend-add","revisions":\s*1/);
}
