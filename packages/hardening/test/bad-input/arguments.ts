import {
  createSandbox,
  type LitterboxErrorCode,
  openShell,
  readFile,
  readLog,
  runCommand,
  writeFile,
} from '@litterbox/core';
import type { Litterbox } from 'litterbox';
import type { BadInput } from './bad-input-fixture.ts';

const sandbox = 'ready';
/** As a program without types calls. */
const untyped = (input: Record<string, unknown>) => input as never;

type Paths = readonly [title: string, paths: readonly string[], code: LitterboxErrorCode, ...says: readonly string[]];

const EITHER: readonly Paths[] = [
  ['B34: an empty path', [''], 'PATH_EMPTY', 'The path ""', 'is empty'],
  ['B34: a directory', ['.', 'src', 'src/', '/', '..', 'src/..', 'to-directory'], 'IS_A_DIRECTORY', 'is a directory'],
  [
    'B34: a file with a slash at the end',
    ['src/a.txt/', 'src/a.txt/.', 'src/a.txt/b'],
    'NOT_A_DIRECTORY',
    'not a directory',
  ],
  ['B36: NUL in a path', ['a\0b', '\0'], 'PATH_NUL', 'The path "', '\\u0000', 'holds a NUL character'],
  [
    'B36: a path too long',
    ['a/'.repeat(2100), 'x'.repeat(256), 'ä'.repeat(128), `d/${'x'.repeat(300)}/f`],
    'PATH_TOO_LONG',
    'The path "',
    'longer than',
  ],
  [
    'B38: a path that is no text',
    ['\ud800', 'a\udfff', '\udc00b', '\udc7f'],
    'PATH_ENCODING',
    'The path "',
    'not valid Unicode',
  ],
  ['B40: what is no file', ['pipe', '/dev/null', '/proc/self'], 'NOT_A_REGULAR_FILE', 'is not a regular file'],
];
const READ: readonly Paths[] = [
  ...EITHER,
  [
    'B35: a file that is not there',
    ['nothing', 'src/nothing', '/src/x', 'a\\b', 'dangling', 'src/a.txt\n'],
    'NOT_FOUND',
    'does not exist in the sandbox',
  ],
  ['B40: a link that leads to itself', ['loop'], 'NOT_FOUND', 'does not exist'],
];
const WRITE: readonly Paths[] = [
  ...EITHER,
  [
    'B39: a path into a git directory',
    ['.git', '.git/config', 'sub/.GIT/x', '.gIt', './.git/hooks/x', 'a/../.git/x', '.git/'],
    'PATH_GIT_DIR',
    'lies in a .git directory',
  ],
];

const from = (
  rows: readonly Paths[],
  verb: 'read' | 'write',
  call: (litterbox: Litterbox, path: string) => unknown,
): readonly BadInput[] =>
  rows.flatMap(([title, paths, code, ...says]) =>
    paths
      .filter((path) => path !== '/proc/self' || verb === 'read')
      .map(
        (path): BadInput => ({
          title,
          input: `${verb} ${path}`,
          code: path === '/proc/self' ? 'IS_A_DIRECTORY' : code,
          says: path === '/proc/self' ? ['is a directory'] : says,
          library: (litterbox) => call(litterbox, path),
        }),
      ),
  );

/** Values of one argument of one operation, in a program. */
const calls = (
  title: string,
  name: string,
  values: readonly unknown[],
  code: LitterboxErrorCode,
  says: readonly string[],
  call: (litterbox: Litterbox, value: never) => unknown,
): readonly BadInput[] =>
  values.map((value) => ({
    title,
    input: `${name}: ${typeof value === 'number' ? String(value) : JSON.stringify(value)}`,
    code,
    says,
    library: (litterbox) => call(litterbox, value as never),
  }));

const run = (key: string) => (litterbox: Litterbox, value: unknown) =>
  litterbox.perform(runCommand, untyped({ sandbox, command: 'true', [key]: value }));

const lines = (
  title: string,
  rows: readonly (readonly [args: readonly string[], code: LitterboxErrorCode, ...says: readonly string[]])[],
): readonly BadInput[] =>
  rows.map(([args, code, ...says]) => ({ title, input: `litterbox ${args.join(' ')}`, code, says, args }));

const TIMEOUT = 'B44: a timeout out of range';

export const ARGUMENTS: readonly BadInput[] = [
  ...from(READ, 'read', (litterbox, path) => litterbox.perform(readFile, { sandbox, path })),
  ...from(WRITE, 'write', (litterbox, path) => litterbox.perform(writeFile, { sandbox, path, content: 'x' })),

  ...calls(
    'B42: a count out of range',
    'limit',
    [0, -1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY],
    'ARG_RANGE',
    ['limit: got ', 'want '],
    (litterbox, limit) => litterbox.perform(readLog, { sandbox, limit }),
  ),
  ...calls(
    'B42: a count of another type',
    'limit',
    ['0', '', null, [], true],
    'ARG_TYPE',
    ['limit: got ', 'want '],
    (litterbox, limit) => litterbox.perform(readLog, { sandbox, limit }),
  ),
  ...calls(
    'B42: a count out of range',
    'maxOutputBytes',
    [0, -1, 1.5, 2 ** 53, 2 ** 40],
    'ARG_RANGE',
    ['maxOutputBytes: got ', 'want '],
    run('maxOutputBytes'),
  ),
  ...lines(
    'B42: a count out of range',
    ['0', '-1', '1.5', 'many', '99999999', ' 1', '0x10', ''].map((count) => [
      ['log', sandbox, `--number=${count}`],
      'ARG_RANGE',
      '--number "',
      'is not a whole number from 1',
    ]),
  ),

  ...calls(
    'B43: an empty command',
    'command',
    ['', ' ', '\n\t', [''], [' ']],
    'COMMAND_EMPTY',
    ['The command', 'is empty'],
    run('command'),
  ),
  ...calls(
    'B43: NUL in a command',
    'command',
    ['echo a\0b', ['echo', 'a\0b']],
    'COMMAND_NUL',
    ['The command', 'holds a NUL character'],
    run('command'),
  ),
  ...calls(
    'B43: a command too long',
    '2 MiB',
    [2 ** 21],
    'COMMAND_TOO_LONG',
    ['is 2097157 bytes long', 'at most 122880'],
    (litterbox, count: number) => litterbox.perform(runCommand, { sandbox, command: `echo ${'a'.repeat(count)}` }),
  ),
  ...calls(
    'B43: a command too long',
    'an argument of 2 MiB',
    [2 ** 21],
    'COMMAND_TOO_LONG',
    ["One argument is longer than 131071 bytes, Linux's limit"],
    (litterbox, count: number) => litterbox.perform(runCommand, { sandbox, command: ['echo', 'a'.repeat(count)] }),
  ),
  ...calls(
    'B43: a command of another type',
    'command',
    [5, null, [], [1], {}, true, ['a', 1]],
    'ARG_TYPE',
    ['command', 'got ', 'want '],
    run('command'),
  ),
  ...lines('B43: an empty command', [
    [['run', sandbox, ''], 'COMMAND_EMPTY', 'The command is empty'],
    [['run', sandbox, '--', ' '], 'COMMAND_EMPTY', 'The command is empty'],
    [['run', sandbox], 'ARG_MISSING', "missing required argument 'command'"],
  ]),

  ...calls(
    TIMEOUT,
    'timeoutMs',
    [0, -1, 0.5, Number.NaN, 1e12, Number.POSITIVE_INFINITY],
    'ARG_RANGE',
    ['timeoutMs: got ', 'want '],
    run('timeoutMs'),
  ),
  ...calls(
    'B44: a timeout of another type',
    'timeoutMs',
    ['5', null, {}],
    'ARG_TYPE',
    ['timeoutMs: got ', 'want '],
    run('timeoutMs'),
  ),
  ...lines(
    TIMEOUT,
    ['0', '-1', '5', 'NaN', '1e12s', '1y', '', '0s', '99999d'].map((value) => [
      ['run', sandbox, `--timeout=${value}`, '--', 'true'],
      'ARG_RANGE',
      value === '0s' || value === '99999d'
        ? 'timeoutMs: got '
        : `--timeout "${value}" is not a duration such as 30s or 5m`,
    ]),
  ),
  ...calls(
    'B45: a working directory',
    'cwd',
    ['/proc', '/sys/fs', '/dev/shm', '//proc', '/./proc/1', '/src/../proc'],
    'WORKDIR_FORBIDDEN',
    ['A command cannot start in "/'],
    run('cwd'),
  ),
  ...calls('B45: a working directory', 'cwd', [5, null, ['/']], 'ARG_TYPE', ['cwd: got ', 'want string'], run('cwd')),
  ...calls(
    'B45: a working directory',
    'cwd',
    ['nowhere', '/nowhere', 'src/a.txt'],
    'NOT_FOUND',
    ['There is no directory "'],
    run('cwd'),
  ),
  ...calls(
    'B45: variables of a command',
    'env',
    [5, [], 'A=b', { A: 1 }, { A: null }],
    'ARG_TYPE',
    ['env', 'got ', 'want '],
    run('env'),
  ),
  ...calls(
    'B45: variables of a command',
    'env',
    [{ 'A=B': 'x' }, { '': 'x' }, { '1A': 'x' }, { 'a\nb': 'x' }],
    'ENV_NAME',
    ['is not the name of a variable'],
    run('env'),
  ),
  ...calls(
    'B45: variables of a command',
    'env',
    [{ A: 'x\0y' }],
    'ENV_VALUE',
    ['the value of A holds a NUL character'],
    run('env'),
  ),
  ...lines('B45: variables of a command', [
    [['run', sandbox, '--env', '=x', '--', 'true'], 'ENV_NAME', '--env "=x" is not NAME=value'],
    [['run', sandbox, '--env', 'A', '--', 'true'], 'ENV_NAME', '--env "A" is not NAME=value'],
    [['run', sandbox, '--env', '1A=x', '--', 'true'], 'ENV_NAME', 'is not the name of a variable'],
  ]),

  ...calls(
    'B47: an argument that nothing takes',
    'force',
    [true],
    'ARG_UNKNOWN',
    ['sandbox-run has no argument "force"'],
    run('force'),
  ),
  ...calls(
    'B47: an argument that nothing takes',
    'sanbox',
    [sandbox],
    'ARG_UNKNOWN',
    ['has no argument "sanbox" (did you mean sandbox?)'],
    (litterbox, sanbox) => litterbox.perform(runCommand, untyped({ sanbox, command: 'true' })),
  ),
  ...calls(
    'B47: an argument that nothing takes',
    'create',
    ['memory', 'internet', '\u202e', 'a\nb', '__proto__x', 'constructor'],
    'ARG_UNKNOWN',
    ['sandbox-create has no argument "'],
    (litterbox, key: string) => litterbox.perform(createSandbox, untyped({ name: 'new', [key]: 1 })),
  ),
  ...calls(
    'B48: an argument that is missing',
    'run',
    [{}, { command: 'true' }, { sandbox: undefined, command: 'true' }],
    'ARG_MISSING',
    ['sandbox-run needs the argument sandbox'],
    (litterbox, input) => litterbox.perform(runCommand, input),
  ),
  ...calls(
    'B48: an argument that is missing',
    'write',
    [{ sandbox, path: 'x' }],
    'ARG_MISSING',
    ['file-write needs the argument content'],
    (litterbox, input) => litterbox.perform(writeFile, input),
  ),
  ...calls(
    'B48: an argument that is missing',
    'input',
    [undefined, null, 5, 'ready', []],
    'ARG_TYPE',
    ['sandbox-run got ', '.'],
    (litterbox, input) => litterbox.perform(runCommand, input),
  ),

  ...calls(
    'B49: ceilings and the like at create',
    'memoryBytes',
    [0, -1, 1024, 1.5, 2 ** 60],
    'ARG_RANGE',
    ['memoryBytes: got ', 'want '],
    (litterbox, memoryBytes) => litterbox.create({ name: 'new', memoryBytes }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'cpus',
    [0, -1, Number.NaN, 1e9],
    'ARG_RANGE',
    ['cpus: got ', 'want '],
    (litterbox, cpus) => litterbox.create({ name: 'new', cpus }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'memoryBytes',
    ['2GiB', null],
    'ARG_TYPE',
    ['memoryBytes: got ', 'want '],
    (litterbox, memoryBytes) => litterbox.create({ name: 'new', memoryBytes }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'worktrees',
    ['lazy', ''],
    'ARG_RANGE',
    ['worktrees: got "', 'want one of on-demand, eager'],
    (litterbox, worktrees) => litterbox.create({ name: 'new', worktrees }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'workdir',
    ['src', '/', '/proc/x', '/a/../b', ''],
    'INVALID_ARGUMENT',
    ['The workdir "', 'cannot be used'],
    (litterbox, workdir) => litterbox.create({ name: 'new', workdir }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'environment',
    [{ LD_PRELOAD: 'x' }, { PATH: 'x' }],
    'ENV_RESERVED',
    ['is reserved'],
    (litterbox, environment) => litterbox.create({ name: 'new', environment }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'rootfs',
    ['src', '', './', '/\0', '~/root'],
    'INVALID_ARGUMENT',
    ['The root file system "', 'is not an absolute path'],
    (litterbox, rootfs) => litterbox.create({ name: 'new', rootfs }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'rootfs',
    ['/nowhere', '/etc/passwd', '/etc'],
    'UNSUPPORTED',
    ['is not a root file system'],
    (litterbox, rootfs) => litterbox.create({ name: 'new', rootfs }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'setup',
    ['a\0b', ['true', '\0']],
    'COMMAND_NUL',
    ['The setup command holds a NUL character'],
    (litterbox, setup) => litterbox.create({ name: 'new', setup }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'setup',
    [5, [[]], [1], {}],
    'ARG_TYPE',
    ['setup', 'got ', 'want '],
    (litterbox, setup) => litterbox.create({ name: 'new', setup }),
  ),
  ...calls(
    'B49: ceilings and the like at create',
    'setup',
    ['', ' ', [''], [['true'], ['']]],
    'COMMAND_EMPTY',
    ['The setup command is empty'],
    (litterbox, setup) => litterbox.create({ name: 'new', setup }),
  ),
  ...lines('B49: ceilings and the like at create', [
    ...['lots', '-1', '1KB', '1e99G', ''].map((size): readonly [readonly string[], LitterboxErrorCode, string] => [
      ['create', 'new', `--memory=${size}`],
      'ARG_RANGE',
      size === '1KB' ? 'memoryBytes: got 1000, want at least 67108864' : `--memory "${size}" is not a size such as`,
    ]),
    ...['0', 'nan', 'inf', '-1', '1e3'].map((cpus): readonly [readonly string[], LitterboxErrorCode, string] => [
      ['create', 'new', `--cpus=${cpus}`],
      'ARG_RANGE',
      cpus === '0' ? 'cpus: got 0, want at least 0.01' : `--cpus "${cpus}" is not a number, 0.01..1024`,
    ]),
    [['create', 'new', '--processes=3'], 'ARG_RANGE', 'processes: got 3, want at least 16'],
    [['create', 'new', '--provider', 'doker'], 'INVALID_ARGUMENT', 'There is no provider "doker"'],
    [['create', 'new', '--provider', '-x'], 'INVALID_ARGUMENT', '"-x" is not the key of a provider'],
    [['create', 'new', '--worktrees', 'lazy'], 'ARG_RANGE', "option '--worktrees <value>' argument 'lazy' is invalid"],
    [['create', 'new', '--workdir', '../x'], 'INVALID_ARGUMENT', 'The workdir "../x" cannot be used'],
    [['create', 'new', '--env', 'LD_PRELOAD=x'], 'ENV_RESERVED', 'LD_PRELOAD is reserved'],
  ]),

  ...[
    ['', ' \n'].map((message) => [message, 'MESSAGE_EMPTY', 'is empty'] as const),
    [['a\0b', 'MESSAGE_NUL', 'holds a NUL character'] as const],
    [['x'.repeat(20 * 1024), 'MESSAGE_TOO_LONG', 'is 20480 bytes long; at most 16384'] as const],
  ]
    .flat()
    .map(
      ([message, code, says]): BadInput => ({
        title: 'B50: the message of a milestone',
        input: message,
        code,
        says: ['The message', says],
        library: (litterbox) => litterbox.milestone(sandbox, message),
        ...(!message.includes('\0') && { args: ['milestone', sandbox, message] }),
      }),
    ),
  ...calls('B50: the message of a change', 'message', [' '], 'MESSAGE_EMPTY', ['The message is empty'], run('message')),
  ...calls(
    'B50: the message of a change',
    'message',
    ['x'.repeat(20 * 1024)],
    'MESSAGE_TOO_LONG',
    ['at most 16384'],
    (litterbox, message: string) => litterbox.perform(writeFile, { sandbox, path: 'new', content: 'x', message }),
  ),
  ...calls(
    'B50: the message of a change',
    'message',
    ['a\0b'],
    'MESSAGE_NUL',
    ['holds a NUL character'],
    (litterbox, message: string) => litterbox.perform(writeFile, { sandbox, path: 'new', content: 'x', message }),
  ),

  ...(
    [
      [
        'run',
        (litterbox) => litterbox.perform(runCommand, { sandbox: 'resting', command: 'true' }),
        ['run', 'resting', 'true'],
      ],
      ['read', (litterbox) => litterbox.perform(readFile, { sandbox: 'resting', path: 'src/a.txt' })],
      ['write', (litterbox) => litterbox.perform(writeFile, { sandbox: 'resting', path: 'x', content: 'x' })],
      ['shell', (litterbox) => litterbox.perform(openShell, { sandbox: 'resting', command: ['true'] })],
    ] as readonly (readonly [string, (litterbox: Litterbox) => unknown, (readonly string[])?])[]
  ).map(
    ([verb, library, args]): BadInput => ({
      title: 'B51: a paused sandbox',
      input: verb,
      code: 'SANDBOX_PAUSED',
      says: ['The sandbox resting is paused'],
      library,
      ...(args && { args }),
    }),
  ),
  ...(
    [
      ['creating', 'SANDBOX_BUSY', 'is still being created'],
      ['deleting', 'SANDBOX_DELETING', 'is being deleted'],
      ['stopped', 'SANDBOX_STOPPED', 'is stopped'],
    ] as const
  ).map(
    ([state, code, says]): BadInput => ({
      title: 'B51: a sandbox that is not ready',
      input: state,
      code,
      says: ['The sandbox half', says],
      arrange: ({ setState }) => setState('half', state),
      library: (litterbox) => litterbox.perform(runCommand, { sandbox: 'half', command: 'true' }),
      args: ['run', 'half', 'true'],
    }),
  ),
];
