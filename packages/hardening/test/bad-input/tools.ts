import type { LitterboxErrorCode } from '@litterbox/core';
import type { BadCall } from './bad-input-fixture.ts';

const sandbox = 'ready';

type Rows = readonly (readonly [value: unknown, code: LitterboxErrorCode, ...says: readonly string[]])[];

/** Values of one argument of one tool. */
const values = (
  title: string,
  tool: string,
  key: string,
  rows: Rows,
  more: Readonly<Record<string, unknown>> = {},
): readonly BadCall[] =>
  rows.map(([value, code, ...says]) => ({
    title,
    input: `${tool} ${key}: ${JSON.stringify(value)?.slice(0, 200)}`,
    tool,
    given: { sandbox, ...more, [key]: value },
    code,
    says,
  }));

const each = (all: readonly unknown[], code: LitterboxErrorCode, ...says: readonly string[]): Rows =>
  all.map((value) => [value, code, ...says]);

const NO_FILE = each(['pipe', '/dev/null'], 'NOT_A_REGULAR_FILE', 'is not a regular file');
const DIRECTORIES = each(['.', 'src', 'src/', '/', '..', 'to-directory'], 'IS_A_DIRECTORY', 'is a directory');
const BEHIND_FILES = each(['src/a.txt/', 'src/a.txt/b'], 'NOT_A_DIRECTORY', 'not a directory');
const NUL = each(['a\0b', '\0'], 'PATH_NUL', 'The path "', '\\u0000', 'holds a NUL character');
const LONG = each(['a/'.repeat(2100), 'x'.repeat(256)], 'PATH_TOO_LONG', 'The path "', 'longer than');
const NO_TEXT = each(['\ud800', 'a\udfff', '\udc7f'], 'PATH_ENCODING', 'The path "', 'not valid Unicode');
const MISSING = each(
  ['nothing', 'src/nothing', '/src/x', 'a\\b', 'dangling', 'loop'],
  'NOT_FOUND',
  'does not exist in the sandbox',
);
const GIT = each(
  ['.git', '.git/config', 'sub/.GIT/x', './.git/hooks/x', '/src/.git/x', 'a/../.git/x'],
  'PATH_GIT_DIR',
  'lies in a .git directory',
);

/** What each tool that takes the path of a file says of paths. */
const ofFiles = (tool: string, more: Readonly<Record<string, unknown>>, isWritten: boolean): readonly BadCall[] => [
  ...values('B34: an empty path', tool, 'path', each([''], 'PATH_EMPTY', 'The path ""', 'is empty'), more),
  ...values('B34: a directory', tool, 'path', DIRECTORIES, more),
  ...values('B34: a file with a slash at the end', tool, 'path', BEHIND_FILES, more),
  ...values('B36: NUL in a path', tool, 'path', NUL, more),
  ...values('B36: a path too long', tool, 'path', LONG, more),
  ...values('B38: a path that is no text', tool, 'path', NO_TEXT, more),
  ...values('B40: what is no file', tool, 'path', NO_FILE, more),
  ...values('B39: a path into a git directory', tool, 'path', GIT, more),
  ...(isWritten ? [] : values('B35: a file that is not there', tool, 'path', MISSING, more)),
];

/** The same of the tools that begin in a directory. */
const ofDirectories = (tool: string, more: Readonly<Record<string, unknown>>): readonly BadCall[] => [
  ...values('B34: an empty path', tool, 'path', each([''], 'PATH_EMPTY', 'The path ""', 'is empty'), more),
  ...values('B35: a file that is not there', tool, 'path', MISSING, more),
  ...values('B36: NUL in a path', tool, 'path', NUL, more),
  ...values('B36: a path too long', tool, 'path', LONG, more),
  ...values('B38: a path that is no text', tool, 'path', NO_TEXT, more),
  ...values('B39: a path into a git directory', tool, 'path', GIT, more),
];

const HUNK = '@@ -1 +1 @@\n-a\n+A\n';
const HEADERS = '--- a/src/a.txt\n+++ b/src/a.txt\n';

const patches = (title: string, rows: Rows): readonly BadCall[] =>
  values(title, 'patch', 'diff', rows, { path: 'src/a.txt' });

export const TOOLS: readonly BadCall[] = [
  ...ofFiles('read', {}, false),
  ...ofFiles('write', { content: 'x' }, true),
  ...ofFiles('edit', { old: 'x', new: 'y' }, true),
  ...ofFiles('patch', { diff: HUNK }, true),
  ...ofDirectories('ls', {}),
  ...ofDirectories('glob', { pattern: '*' }),
  ...ofDirectories('grep', { pattern: 'x' }),
  ...values(
    'B41: a hidden file is not read',
    'read',
    'path',
    each(['.gitignore', './.gitignore', 'src/../.gitignore', '/src/.gitignore'], 'PATH_HIDDEN', 'is hidden'),
  ),
  ...['ls', 'glob', 'grep'].flatMap((tool) =>
    values(
      'B41: a hidden file is not read',
      tool,
      'path',
      each(['.github', '/src/.github'], 'PATH_HIDDEN', 'is hidden'),
      {
        ...(tool !== 'ls' && { pattern: 'x' }),
      },
    ),
  ),
  ...['ls', 'glob'].flatMap((tool) =>
    values(
      'B40: what is no file',
      tool,
      'path',
      each(['src/a.txt', 'pipe', '/dev/null'], 'NOT_A_DIRECTORY', 'is not a directory'),
      { ...(tool !== 'ls' && { pattern: 'x' }) },
    ),
  ),
  ...values('B40: what is no file', 'grep', 'path', each(['pipe', '/dev/null'], 'NOT_A_REGULAR_FILE', 'neither file'), {
    pattern: 'x',
  }),
  ...values(
    'B40: a path of another type',
    'read',
    'path',
    each([5, null, ['src/a.txt'], {}], 'ARG_TYPE', 'path: got '),
  ),

  ...values(
    'B42: a count out of range',
    'read',
    'offset',
    each([-1, 1.5, 2 ** 53, 1e18], 'ARG_RANGE', 'offset: got ', 'want '),
    { path: 'src/a.txt' },
  ),
  ...values('B42: a count out of range', 'read', 'limit', each([0, -1, 1e18], 'ARG_RANGE', 'limit: got ', 'want '), {
    path: 'src/a.txt',
  }),
  ...['offset', 'limit'].flatMap((key) =>
    values('B42: a count of another type', 'read', key, each(['0', true, []], 'ARG_TYPE', `${key}: got `, 'want '), {
      path: 'src/a.txt',
    }),
  ),

  ...values('B43: an empty command', 'bash', 'command', each(['', ' ', '\n\t'], 'COMMAND_EMPTY', 'is empty')),
  ...values('B43: NUL in a command', 'bash', 'command', each(['echo a\0b'], 'COMMAND_NUL', 'holds a NUL character')),
  ...values(
    'B43: a command too long',
    'bash',
    'command',
    each([`echo ${'a'.repeat(2 ** 21)}`], 'COMMAND_TOO_LONG', 'is 2097157 bytes long', 'at most 122880'),
  ),
  ...values(
    'B43: a command of another type',
    'bash',
    'command',
    each([5, null, ['true'], {}, true], 'ARG_TYPE', 'command: got ', 'want string'),
  ),

  ...values(
    'B44: a timeout out of range',
    'bash',
    'timeout',
    each([0, -1, 0.5, 3_600_001, 1e12], 'ARG_RANGE', 'timeout: got ', 'want '),
    { command: 'true' },
  ),
  ...values('B44: a timeout of another type', 'bash', 'timeout', each(['5', '1h', {}], 'ARG_TYPE', 'timeout: got '), {
    command: 'true',
  }),
  ...values(
    'B45: a working directory',
    'bash',
    'workdir',
    [
      ...each(['/proc', '/sys/fs', '/dev/shm'], 'WORKDIR_FORBIDDEN', 'A command cannot start in "/'),
      ...each(['nowhere', '/nowhere', 'src/a.txt', '/src; id'], 'NOT_FOUND', 'There is no directory "'),
      ...each([5, ['/']], 'ARG_TYPE', 'workdir: got ', 'want string'),
    ],
    { command: 'true' },
  ),

  ...values('B46: a pattern of grep', 'grep', 'pattern', [
    ['[', 'PATTERN_INVALID', 'The pattern "["', 'is invalid at 0'],
    ['a(b', 'PATTERN_INVALID', 'The pattern "a(b"', 'is invalid'],
    ['*', 'PATTERN_INVALID', 'The pattern "*"', 'is invalid'],
    ['a\0b', 'PATTERN_INVALID', 'a NUL character'],
    ['(?<=x)y', 'PATTERN_UNSUPPORTED', 'has an unsupported'],
    ['(?!x)y', 'PATTERN_UNSUPPORTED', 'has an unsupported'],
    ['(a)\\1', 'PATTERN_UNSUPPORTED', 'has an unsupported'],
    ['', 'PATTERN_EMPTY', 'is empty'],
    ['x'.repeat(2 ** 20), 'PATTERN_TOO_LONG', 'has more than 2000 characters'],
    ['(a{1,255}){1,255}', 'PATTERN_TOO_COMPLEX', 'The pattern "'],
    [5, 'ARG_TYPE', 'pattern: got number, want string'],
  ]),
  ...values('B46: a pattern of glob', 'glob', 'pattern', [
    ['[', 'GLOB_INVALID', 'The pattern "["', 'is invalid at 0'],
    ['a{b', 'GLOB_INVALID', 'The pattern "a{b"', 'is invalid at '],
    ['', 'PATTERN_EMPTY', 'is empty'],
    ['x'.repeat(2 ** 20), 'PATTERN_TOO_LONG', 'is longer than'],
    ['{a,b}'.repeat(30), 'PATTERN_TOO_COMPLEX', 'The pattern "'],
    [null, 'ARG_TYPE', 'pattern: got null, want string'],
  ]),
  ...values(
    'B46: a pattern of glob',
    'grep',
    'include',
    [
      ['[', 'GLOB_INVALID', 'The pattern "["'],
      ['', 'PATTERN_EMPTY', 'is empty'],
    ],
    { pattern: 'x' },
  ),

  ...[
    'read',
    'write',
    'edit',
    'patch',
    'bash',
    'ls',
    'glob',
    'grep',
    'sandbox-status',
    'sandbox-milestone',
    'sandbox-service',
    'sandbox-ports',
  ].map(
    (tool): BadCall => ({
      title: 'B47: an argument that nothing takes',
      input: `${tool} force`,
      tool,
      given: { sandbox, force: true },
      code: 'ARG_UNKNOWN',
      says: [`${tool} has no argument "force"`],
    }),
  ),
  ...[
    ['sanbox', ' (did you mean sandbox?)'],
    ['comand', ' (did you mean command?)'],
    ['\u202e', ''],
    ['a\nb', ''],
    ['constructor', ''],
  ].map(
    ([key = '', nearest = '']): BadCall => ({
      title: 'B47: an argument that nothing takes',
      input: `bash ${key}`,
      tool: 'bash',
      given: { [key]: sandbox },
      code: 'ARG_UNKNOWN',
      says: ['bash has no argument "', nearest],
    }),
  ),
  ...(
    [
      ['read', { path: 'src/a.txt' }, 'sandbox'],
      ['read', { sandbox }, 'path'],
      ['write', { sandbox, path: 'x' }, 'content'],
      ['edit', { sandbox, path: 'x', new: 'y' }, 'old'],
      ['patch', { sandbox, path: 'x' }, 'diff'],
      ['bash', { command: 'true' }, 'sandbox'],
      ['bash', { sandbox }, 'command'],
      ['ls', {}, 'sandbox'],
      ['glob', { sandbox }, 'pattern'],
      ['grep', { sandbox }, 'pattern'],
      ['sandbox-create', {}, 'name'],
      ['sandbox-milestone', { sandbox }, 'message'],
      ['sandbox-status', {}, 'sandbox'],
      ['sandbox-service', { sandbox }, 'action'],
      ['sandbox-ports', {}, 'sandbox'],
    ] as const
  ).map(
    ([tool, given, key]): BadCall => ({
      title: 'B48: an argument that is missing',
      input: `${tool} without ${key}`,
      tool,
      given,
      code: 'ARG_MISSING',
      says: [`${tool} needs the argument ${key}`],
    }),
  ),
  ...(
    [
      ['a\0b', 'NAME_NUL', 'holds a NUL character'],
      ['ready', 'SANDBOX_EXISTS', 'ready'],
      ['READY', 'SANDBOX_EXISTS', 'ready'],
      ['--', 'NAME_INVALID', 'has no letter a-z or digit'],
      ['HEAD', 'NAME_RESERVED', 'HEAD'],
      [5, 'ARG_TYPE', 'name: got number, want string'],
    ] as const
  ).map(
    ([name, code, says]): BadCall => ({
      title: 'B49: a sandbox that cannot be made',
      input: `name ${String(name)}`,
      tool: 'sandbox-create',
      given: { name },
      code,
      says: [says],
    }),
  ),
  ...(
    [
      ['nope', 'REV_NOT_FOUND'],
      ['-x', 'REV_INVALID'],
      ['a..b', 'REV_INVALID'],
      ['HEAD:src', 'REV_INVALID'],
      ['worktree', 'PERMISSION_DENIED'],
    ] as const
  ).map(
    ([from, code]): BadCall => ({
      title: 'B49: a sandbox that cannot be made',
      input: `from ${from}`,
      tool: 'sandbox-create',
      given: { name: 'new', from },
      code,
      says: [''],
    }),
  ),
  ...['memoryBytes', 'setup', 'environment', 'rootfs', 'allowDegraded', 'provider'].map(
    (key): BadCall => ({
      title: 'B49: what only a person may ask for',
      input: key,
      tool: 'sandbox-create',
      given: { name: 'new', [key]: 1 },
      code: 'ARG_UNKNOWN',
      says: [`sandbox-create has no argument "${key}"`],
    }),
  ),

  ...values('B50: the message of a milestone', 'sandbox-milestone', 'message', [
    ...each(['', ' \n'], 'MESSAGE_EMPTY', 'The message', 'is empty'),
    ...each(['a\0b'], 'MESSAGE_NUL', 'The message', 'holds a NUL character'),
    ...each(['x'.repeat(20 * 1024)], 'MESSAGE_TOO_LONG', 'The message', 'is 20480 bytes long; at most 16384'),
    ...each([5, null], 'ARG_TYPE', 'message: got '),
  ]),
  ...(
    [
      ['bash', { command: 'echo new >new' }],
      ['write', { path: 'new', content: 'x' }],
      ['edit', { path: 'src/a.txt', old: 'a', new: 'b' }],
      ['patch', { path: 'src/a.txt', diff: HUNK }],
    ] as const
  ).flatMap(([tool, more]) =>
    values(
      'B50: the message of a change',
      tool,
      'message',
      [
        ...each([' '], 'MESSAGE_EMPTY', 'The message is empty'),
        ...each(['a\0b'], 'MESSAGE_NUL', 'holds a NUL character'),
        ...each(['x'.repeat(20 * 1024)], 'MESSAGE_TOO_LONG', 'at most 16384'),
      ],
      more,
    ),
  ),

  ...(
    [
      ['bash', { command: 'true' }],
      ['read', { path: 'src/a.txt' }],
      ['write', { path: 'x', content: 'x' }],
      ['edit', { path: 'src/a.txt', old: 'a', new: 'b' }],
      ['patch', { path: 'src/a.txt', diff: HUNK }],
      ['ls', {}],
      ['glob', { pattern: '*' }],
      ['grep', { pattern: 'x' }],
    ] as const
  ).flatMap(([tool, more]): readonly BadCall[] => [
    {
      title: 'B51: a paused sandbox',
      input: tool,
      tool,
      given: { sandbox: 'resting', ...more },
      code: 'SANDBOX_PAUSED',
      says: ['The sandbox resting is paused'],
    },
    ...(
      [
        ['creating', 'SANDBOX_BUSY', 'is still being created'],
        ['deleting', 'SANDBOX_DELETING', 'is being deleted'],
        ['stopped', 'SANDBOX_STOPPED', 'is stopped'],
      ] as const
    ).map(
      ([state, code, says]): BadCall => ({
        title: 'B51: a sandbox that is not ready',
        input: `${tool} ${state}`,
        arrange: ({ setState }) => setState('half', state),
        tool,
        given: { sandbox: 'half', ...more },
        code,
        says: ['The sandbox half', says],
      }),
    ),
    {
      title: 'B33: a name that no sandbox has',
      input: tool,
      tool,
      given: { sandbox: 'nobody', ...more },
      code: 'SANDBOX_NOT_FOUND',
      says: ['There is no sandbox "nobody" in this repository'],
    },
  ]),

  ...patches('B54: a patch whose counts are wrong', [
    [`${HEADERS}@@ -1,5 +1,6 @@\n+A\n`, 'PATCH_CORRUPT', 'hunk 1, line ', 'expected 5 lines, got 0'],
    [`${HEADERS}@@ -1,5 +1,5 @@\n-b\n+A\n`, 'PATCH_CONFLICT', 'hunk 1 at line 1', 'should be "b", but is "a"'],
    [`${HEADERS}${HUNK}@@ -3,2 +3,2 @@\n b\n`, 'PATCH_CORRUPT', 'hunk 2, line ', 'expected 2 lines, got 1'],
    [
      `${HEADERS}@@ -1,2 +1,2 @@\n-a\n*b\n+A\n`,
      'PATCH_CORRUPT',
      'hunk 1, line 5',
      'starts with none of space, + and -',
    ],
    [`${HEADERS}@@ -1 @@\n-a\n+A\n`, 'PATCH_CORRUPT', 'hunk 1, line 3', 'is not @@ -START,COUNT +START,COUNT @@'],
    [`${HEADERS}@@ @@\n+A\n`, 'PATCH_CORRUPT', 'hunk 1, line 4', 'it has neither numbers nor a line of context'],
    ['*** Begin Patch\n*** Update File: src/a.txt\n-a\n+A\n', 'PATCH_CORRUPT', 'does not end with *** End Patch'],
    ['', 'PATCH_CORRUPT', 'it is empty'],
    ['change a to A, please', 'PATCH_CORRUPT', 'line 1', 'does not belong into a unified diff'],
    [5, 'ARG_TYPE', 'diff: got number, want string'],
  ]),
  ...patches('B55: a patch that does not fit', [
    [`${HEADERS}@@ -1 +1 @@\n-b\n+B\n`, 'PATCH_CONFLICT', 'hunk 1 at line 1', 'should be "b", but is "a"'],
    [`${HEADERS}@@ -10 +10 @@\n-z\n+Z\n`, 'PATCH_CONFLICT', 'hunk 1 at line 10'],
    [`${HEADERS}@@ @@\n-z\n+Z\n`, 'PATCH_CONFLICT', 'hunk 1 without numbers: no line is "z"'],
    [
      '--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+other\n',
      'PATCH_CONFLICT',
      'it creates the file, which is there',
    ],
    [`${HEADERS.replace('+++ b/src/a.txt', '+++ /dev/null')}@@ -1 +0,0 @@\n-b\n`, 'PATCH_CONFLICT', 'hunk 1 at line 1'],
  ]),
  ...patches('B56: a patch of several files, or of another', [
    [`${HEADERS}${HUNK}--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n`, 'PATCH_MULTI_FILE', 'another file starts'],
    [`--- a/b.txt\n+++ b/b.txt\n${HUNK}`, 'PATCH_PATH_MISMATCH', 'its header names "a/b.txt"'],
    [
      '*** Begin Patch\n*** Update File: src/a.txt\n-a\n+A\n*** Delete File: b\n*** End Patch\n',
      'PATCH_MULTI_FILE',
      'line 5: another file starts',
    ],
    [
      '*** Begin Patch\n*** Update File: src/a.txt\n*** Move to: .git/hooks/x\n*** End Patch\n',
      'PATH_GIT_DIR',
      'lies in a .git directory',
    ],
    [`--- a/../../etc/passwd\n+++ b/../../etc/passwd\n${HUNK}`, 'PATCH_PATH_MISMATCH', 'its header names "'],
  ]),
  ...patches('B58: a rename, a binary file, a mode in a patch', [
    [
      `diff --git a/src/a.txt b/c\nsimilarity index 90%\nrename from src/a.txt\nrename to c\n`,
      'PATCH_UNSUPPORTED',
      'rename',
    ],
    [`diff --git a/src/a.txt b/c\nsimilarity index 90%\ncopy from src/a.txt\ncopy to c\n`, 'PATCH_UNSUPPORTED', 'copy'],
    ['diff --git a/src/a.txt b/src/a.txt\nGIT binary patch\nliteral 3\nKcmZ\n', 'PATCH_BINARY', 'of a binary file'],
    ...['120000', '160000', '104755', '100777'].map(
      (mode) =>
        [
          `diff --git a/src/a.txt b/src/a.txt\nold mode 100644\nnew mode ${mode}\n${HEADERS}${HUNK}`,
          'PATCH_MODE_FORBIDDEN',
          `it has the mode "${mode}"`,
        ] as const,
    ),
  ]),
  ...patches('B59: line ends in a patch', [
    [`${HEADERS}@@ -1 +1 @@\n-a\r\n+A\r\n`, 'PATCH_CONFLICT', 'line endings differ: file LF, patch CRLF'],
    [`${HEADERS}@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+A\n`, 'PATCH_CONFLICT', 'hunk 1 at line 1'],
    [`${HEADERS}@@ -1 +1 @@\n-\ufeffa\n+A\n`, 'PATCH_CONFLICT', 'hunk 1 at line 1'],
  ]),
  ...patches('B60: a patch too large', [
    [
      `${HEADERS}@@ -1 +1 @@\n-a\n+${'A'.repeat(50 * 2 ** 20)}\n`,
      'PATCH_TOO_LARGE',
      'it is larger than 16777216 bytes',
    ],
    [`${HEADERS}${HUNK.repeat(1_000_000)}`, 'PATCH_TOO_LARGE', 'it is larger than 16777216 bytes'],
    [`${HEADERS}${'@@ -1 +1 @@\n'.repeat(200_000)}`, 'PATCH_TOO_LARGE', 'it has more than 100000 hunks'],
    [`${HEADERS}@@ -1 +4294967296 @@\n-a\n+A\n`, 'PATCH_CORRUPT', 'a number is larger than 2^31'],
  ]),
  ...values(
    'B75: a text to replace that does not fit',
    'edit',
    'old',
    [
      ['', 'EDIT_EMPTY', 'the old text is empty'],
      ['new', 'EDIT_EMPTY', 'are the same'],
      ['b', 'EDIT_NOT_FOUND', 'the old text does not stand there'],
      [' a', 'EDIT_NOT_FOUND', 'differs in white space alone'],
      [5, 'ARG_TYPE', 'old: got number, want string'],
    ],
    { path: 'src/a.txt', new: 'new' },
  ),
  ...values(
    'B61: content that is no file',
    'write',
    'content',
    [...each(['\ud800'], 'ARG_TYPE', 'half of a character')],
    {
      path: 'new',
    },
  ),
  ...values('B61: content that is no file', 'write', 'content', [...each(['%%%'], 'ARG_TYPE', 'is not base64')], {
    path: 'new',
    encoding: 'base64',
  }),
  ...values('B61: content that is no file', 'write', 'encoding', each(['latin1', ''], 'ARG_RANGE', 'encoding: got "'), {
    path: 'new',
    content: 'x',
  }),
];
