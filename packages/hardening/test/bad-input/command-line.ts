import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LitterboxErrorCode } from '@litterbox/core';
import type { BadInput } from './bad-input-fixture.ts';

type Line = readonly [title: string, args: readonly string[], code: LitterboxErrorCode, ...says: readonly string[]];

const merge = (args: readonly string[]): BadInput => ({
  title: 'B68: an argument that git merge must not get',
  input: args.join(' '),
  code: 'MERGE_ARG_NOT_ALLOWED',
  says: ['git merge would get the argument "', 'which is not allowed'],
  library: (litterbox) => litterbox.merge('ready', { arguments: args }),
  // The first -- is the command line's own.
  ...(args[0] !== '--' && { args: ['merge', 'ready', '--', ...args] }),
});

const LINES: readonly Line[] = [
  ['B67: a verb that is none', ['delte', 'x'], 'UNKNOWN_COMMAND', "unknown command 'delte' (Did you mean delete?)"],
  ['B67: a verb that is none', ['rm', 'x'], 'UNKNOWN_COMMAND', "unknown command 'rm'"],
  ['B67: a verb that is none', ['--', 'ready'], 'UNKNOWN_COMMAND', "unknown command 'ready'"],
  ['B67: a verb that is none', ['a\nb\u001b[31m\u202e'], 'UNKNOWN_COMMAND', "unknown command 'a b"],
  ['B67: a verb that is none', ['x'.repeat(10_000)], 'UNKNOWN_COMMAND', "unknown command 'xxx", '…'],
  ['B67: a name that is missing', ['delete'], 'ARG_MISSING', "missing required argument 'name'"],
  ['B67: a name that is missing', ['merge'], 'ARG_MISSING', "missing required argument 'name'"],
  ['B67: a name that is missing', ['pause'], 'ARG_MISSING', 'Give either the name of one sandbox, or all of them'],
  [
    'B67: a name that is missing',
    ['pause', 'ready', '--all-envs'],
    'ARG_MISSING',
    'Give either the name of one sandbox, or all of them',
  ],
  ...['Bad Image', '-x', 'a b', 'UPPER', 'x'.repeat(300), '../x', 'a\nb', 'x@sha256:1'].map(
    (image): Line => [
      'B67: an image that is none',
      ['create', 'n', `--image=${image}`],
      'INVALID_ARGUMENT',
      'is not an image reference',
    ],
  ),
  ['B67: two roots', ['create', 'n', '--image', 'x', '--rootfs', '/x'], 'INVALID_ARGUMENT', 'not both'],
  [
    'B67: two names',
    ['create', 'one', 'two'],
    'ARG_UNKNOWN',
    "too many arguments for 'create'. Expected 1 argument but got 2",
  ],
  ['B67: two names', ['pause', 'ready', 'resting'], 'ARG_UNKNOWN', "too many arguments for 'pause'"],
  ['B67: two names', ['trust', 'x'], 'ARG_UNKNOWN', "too many arguments for 'trust'"],
  ['B67: an option that is none', ['list', '--al'], 'ARG_UNKNOWN', "unknown option '--al' (Did you mean --all?)"],
  ['B67: an option that is none', ['list', '-Z'], 'ARG_UNKNOWN', "unknown option '-Z'"],
  ['B67: an option that is none', ['--nope', 'list'], 'ARG_UNKNOWN', "unknown option '--nope'"],
  [
    'B67: an option without its value',
    ['log', 'ready', '--number'],
    'ARG_MISSING',
    "option '-n, --number <count>' argument missing",
  ],
  ['B67: an option without its value', ['-C'], 'ARG_MISSING', "option '-C, --repo <directory>' argument missing"],
  ['B67: what is done with a service', ['service', 'ready', 'reload'], 'ARG_RANGE', 'action'],
  ['B67: what is done with a service', ['service', 'ready'], 'ARG_MISSING', "missing required argument 'action'"],
  ['B67: a service that is none', ['service', 'ready', 'status', 'web'], 'SERVICE_NOT_FOUND', 'no service "web"'],
  ['B67: a service that is none', ['service', 'ready', 'stop', '../x'], 'SERVICE_NOT_FOUND', 'no service "../x"'],
  ['B67: a service that is none', ['service', 'ready', 'start'], 'SERVICE_NOT_FOUND', 'has no services'],
  ['B67: a service that is none', ['logs', 'ready', 'a\u001b[2J'], 'SERVICE_NOT_FOUND', 'no service'],
  ['B67: a service that is none', ['logs', 'ready'], 'SERVICE_NOT_FOUND', 'has no services'],
  ['B67: a port that is none', ['ports', 'ready', '--open', 'web'], 'PORT_NOT_FOUND', 'no port "web"'],
  ['B67: a port that is none', ['ports', 'ready', '--open', 'https://x.test'], 'PORT_NOT_FOUND', 'no port'],
  ['B69: a revision that is none', ['restore', 'ready', '99'], 'REV_NOT_FOUND', '99'],
  [
    'B69: a revision that is none',
    ['restore', 'ready', '-1'],
    'REV_INVALID',
    '"-1" is neither a number nor a commit id',
  ],
  [
    'B69: a revision that is none',
    ['restore', 'ready', 'HEAD'],
    'REV_INVALID',
    '"HEAD" is neither a number nor a commit id',
  ],
  ['B69: a revision that is none', ['restore', 'ready', '0'.repeat(40)], 'REV_NOT_FOUND', '000'],
  ['B69: a revision that is none', ['diff', 'ready', '--revision', '1.5'], 'REV_INVALID', '"1.5" is neither'],
  ['B69: a revision that is none', ['diff', 'ready', '--revision', ''], 'REV_INVALID', '"" is neither'],
  ['B70: files that run code here, without a terminal', ['merge', 'risky'], 'RISKY_CHANGES', '.husky/post-merge'],
  ['B70: files that run code here, without a terminal', ['apply', 'risky'], 'RISKY_CHANGES', '.husky/post-merge'],
  ['B71: work that is nowhere else', ['delete', 'risky'], 'UNMERGED_WORK', 'holds changes to one file'],
  ['B72: a shell without a terminal', ['shell', 'ready'], 'NEED_TTY', 'A shell needs a terminal on stdin and stdout'],
  ['B73: nobody agrees', ['trust'], 'CONFIG_UNTRUSTED', 'Nobody agreed'],
];

const HOMES: readonly (readonly [
  input: string,
  home: string,
  code: LitterboxErrorCode,
  says: string,
  make?: (at: string) => void,
])[] = [
  ['relative', 'relative', 'STATE_DIR_INVALID', 'is not absolute'],
  ['~', '~/state', 'STATE_DIR_INVALID', 'is not absolute'],
  ['a file', '', 'STATE_DIR_INVALID', 'is not a directory', (at) => writeFileSync(at, '')],
  ['below a file', '/state', 'STATE_DIR_INVALID', 'is not a directory', (at) => writeFileSync(at, '')],
  [
    'others may enter',
    '',
    'STATE_DIR_INVALID',
    'has mode 0755',
    (at) => {
      mkdirSync(at);
      chmodSync(at, 0o755);
    },
  ],
  [
    'a link',
    '',
    'STATE_DIR_INVALID',
    'is a symbolic link',
    (at) => {
      mkdirSync(`${at}-real`, { mode: 0o700 });
      symlinkSync(`${at}-real`, at);
    },
  ],
  ['too long', `/${'x/'.repeat(250)}`, 'STATE_DIR_INVALID', 'at most 440', (at) => mkdirSync(at)],
  ['cannot be made', '/proc/litterbox', 'STATE_DIR_INVALID', 'cannot be made'],
  [
    'another file instead of the records',
    '',
    'STATE_CORRUPT',
    'state.db',
    (at) => {
      mkdirSync(at, { mode: 0o700 });
      writeFileSync(join(at, 'state.db'), 'x'.repeat(8192));
    },
  ],
];

export const COMMAND_LINE: readonly BadInput[] = [
  ...LINES.map(
    ([title, args, code, ...says]): BadInput => ({
      title,
      input: args.join(' '),
      code,
      says,
      args,
      ...(title.startsWith('B73') && {
        arrange: ({ scratch }) => {
          scratch.file('.litterbox.toml', 'source = "worktree"\n');
          return () => rmSync(join(scratch.repository, '.litterbox.toml'));
        },
      }),
    }),
  ),
  ...[
    ['--exec=x'],
    ['-c', 'k=v'],
    ['--upload-pack=x'],
    ['--strategy=../../x'],
    ['--strategy='],
    ['-s', 'octopus'],
    ['-s'],
    ['-sresolve'],
    ['-X', 'theirs', '--no-ff', '--abort'],
    ['-X', 'nope'],
    ['-X'],
    ['-X', 'subtree=-x'],
    ['-Xfind-renames=x'],
    ['--continue'],
    ['--quit'],
    ['--no-verify'],
    ['--edit'],
    ['-F', '/etc/passwd'],
    ['--file=/etc/passwd'],
    ['-e'],
    ['--allow-unrelated-histories'],
    ['main'],
    ['HEAD~1'],
    [''],
    ['--'],
    ['-S a'],
    ['-S-x'],
    ['--gpg-sign=x'],
    ['--squash=1'],
    ['--no-ff\n'],
    ['\u202e'],
  ].map(merge),
  {
    title: 'B68: arguments of another type',
    input: '5',
    code: 'ARG_TYPE',
    says: ['arguments: got ', 'want array'],
    library: (litterbox) => litterbox.merge('ready', { arguments: 5 as never }),
  },
  {
    title: 'B68: arguments of another type',
    input: '[5]',
    code: 'ARG_TYPE',
    says: ['arguments.0: got ', 'want string'],
    library: (litterbox) => litterbox.merge('ready', { arguments: [5] as never }),
  },
  {
    title: 'B70: files that run code here, without a terminal',
    input: 'merge',
    code: 'RISKY_CHANGES',
    says: ['.husky/post-merge'],
    library: (litterbox) => litterbox.merge('risky'),
  },
  {
    title: 'B71: work that is nowhere else',
    input: 'delete',
    code: 'UNMERGED_WORK',
    says: ['holds changes to one file'],
    library: (litterbox) => litterbox.delete('risky'),
  },
  {
    title: 'B69: a revision that is none',
    input: 'restore',
    code: 'REV_NOT_FOUND',
    says: ['99'],
    library: (litterbox) => litterbox.restore('ready', '99'),
  },
  {
    title: 'B72: a state that is none',
    input: 'frozen',
    code: 'ARG_RANGE',
    says: ['state: got "frozen", want one of paused, stopped, ready'],
    library: (litterbox) => litterbox.setRunState('ready', 'frozen' as never),
  },
  ...HOMES.map(
    ([input, home, code, says, make]): BadInput => ({
      title: 'B74: a state directory',
      input,
      code,
      says: [says],
      arrange: ({ scratch: { directory } }) => {
        const at = join(directory, 'home');
        make?.(at);
        return () => {
          rmSync(at, { force: true, recursive: true });
          rmSync(`${at}-real`, { force: true, recursive: true });
        };
      },
      home: make ? `home${home}` : home,
      args: ['list'],
    }),
  ),
];
