import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LitterboxErrorCode } from '@litterbox/core';
import { git } from '@litterbox/source-control-git';
import type { BadInput, BadInputFixture } from './bad-input-fixture.ts';

const create = {
  library: (litterbox) => litterbox.create({ name: 'new' }),
  args: ['create', 'new'],
} as const satisfies Pick<BadInput, 'library' | 'args'>;

/** Another repository beside the one of the fixture, made by a script. */
const beside =
  (script: string, change: (at: string) => void = () => {}): NonNullable<BadInput['arrange']> =>
  ({ scratch: { directory } }) => {
    const at = join(directory, 'other');
    mkdirSync(at);
    execFileSync('sh', ['-ec', script], {
      cwd: at,
      stdio: 'pipe',
      env: {
        PATH: process.env['PATH'],
        HOME: directory,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'x',
        GIT_AUTHOR_EMAIL: 'x@localhost',
        GIT_COMMITTER_NAME: 'x',
        GIT_COMMITTER_EMAIL: 'x@localhost',
      },
    });
    change(at);
    return () => rmSync(at, { recursive: true, force: true });
  };

const COMMITTED = 'git init -q -b main . && echo a >a && git add a && git commit -q -m one';

type Revisions = readonly [
  title: string,
  names: readonly (string | ((fixture: BadInputFixture) => string))[],
  code: LitterboxErrorCode,
  ...says: readonly string[],
];

const REVISIONS: readonly Revisions[] = [
  [
    'B64: what does not name one commit',
    [
      '',
      '-x',
      '--all',
      'a..b',
      'a...b',
      'HEAD:src/a.txt',
      ':/one',
      '@{-1}',
      'HEAD@{1}',
      '^HEAD',
      'HEAD^{tree}',
      'HEAD^{/one}',
      'HEAD^@',
      'HEAD^!',
      'HEAD^-',
      'a b',
      'a\nb',
      'a\\b',
      'main*',
      'a[b]',
      '~1',
      'HEAD~1:x',
      'refs/../x',
      ':0:src/a.txt',
    ],
    'REV_INVALID',
    '"',
    'does not name one commit',
  ],
  [
    'B64: a commit that is not there',
    ['nope', 'HEAD~7', 'main^2', '0'.repeat(40), 'f'.repeat(40), 'deadbeef', 'refs/heads/nope', 'x'.repeat(5000)],
    'REV_NOT_FOUND',
    '"',
    'is not a branch, tag or commit of this repository',
  ],
  [
    'B64: what is no commit',
    [
      ({ scratch }) => scratch.git('rev-parse', 'HEAD^{tree}'),
      ({ scratch }) => scratch.git('rev-parse', 'HEAD:src/a.txt'),
      () => 'a-tree',
    ],
    'REV_NOT_COMMIT',
    '"',
    'is not a commit',
  ],
];

export const REPOSITORIES: readonly BadInput[] = [
  {
    title: 'B62: no repository',
    input: 'a directory',
    code: 'NOT_A_REPO',
    says: ['other" is not in a git repository'],
    arrange: beside('true'),
    directory: '../other',
    ...create,
  },
  {
    title: 'B62: no repository',
    input: 'a directory that is not there',
    code: 'NOT_FOUND',
    says: ['nowhere" is not there'],
    library: (_, fixture) => fixture.open(join(fixture.scratch.directory, 'nowhere')).create({ name: 'new' }),
    args: ['-C', 'nowhere', 'create', 'new'],
  },
  {
    title: 'B62: inside of a git directory',
    input: '.git',
    code: 'INSIDE_GIT_DIR',
    says: ['.git" is inside a git directory'],
    directory: '.git',
    ...create,
  },
  {
    title: 'B62: inside of a git directory',
    input: '.git/refs/heads',
    code: 'INSIDE_GIT_DIR',
    says: ['is inside a git directory'],
    directory: '.git/refs/heads',
    ...create,
  },
  {
    title: 'B62: a bare repository',
    input: 'git init --bare',
    code: 'BARE_REPO',
    says: ['other" is a bare repository'],
    arrange: beside('git init -q --bare .'),
    directory: '../other',
    ...create,
  },
  {
    title: 'B62: a bare repository',
    input: 'refs of a bare one',
    code: 'BARE_REPO',
    says: ['is a bare repository'],
    arrange: beside('git init -q --bare .'),
    directory: '../other/refs',
    ...create,
  },
  {
    title: 'B62: a repository without commits',
    input: 'git init',
    code: 'UNBORN_HEAD',
    says: ['The branch has no commit yet'],
    arrange: beside('git init -q .'),
    directory: '../other',
    ...create,
  },
  {
    title: 'B62: a repository without commits',
    input: 'an orphan branch',
    code: 'UNBORN_HEAD',
    says: ['has no commit yet'],
    arrange: beside(`${COMMITTED} && git checkout -q --orphan new`),
    directory: '../other',
    ...create,
  },
  ...(
    [
      ['no git', '', 'TOOL_MISSING', 'No git program at'],
      ['git 2.30.2', 'echo git version 2.30.2', 'GIT_TOO_OLD', 'git is 2.30, at least 2.38 is needed'],
      ['no version', 'echo git version unknown', 'TOOL_MISSING', 'version'],
      ['no answer', 'exit 3', 'TOOL_MISSING', 'version'],
    ] as const
  ).map(
    ([input, script, code, says]): BadInput => ({
      title: 'B62: git is missing or too old',
      input,
      code,
      says: [says],
      arrange: ({ scratch: { directory } }) => {
        if (script !== '') writeFileSync(join(directory, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
        return () => rmSync(join(directory, 'git'), { force: true });
      },
      // A command line looks for git in the system's directories first, so no test can take it away.
      async library(_, { open, scratch: { directory, repository, stateDirectory } }) {
        const sourceControl = git({ stateDirectory, gitBinary: join(directory, 'git') });
        await using litterbox = open(repository, { parts: { sourceControl } });
        await litterbox.create({ name: 'new' });
      },
    }),
  ),
  ...(process.getuid?.() === 0
    ? [
        {
          title: 'B63: a repository of another user',
          input: 'uid 61199',
          code: 'REPO_OWNER',
          says: ['belongs to user 61199'],
          arrange: beside(COMMITTED, (at) => {
            for (const name of ['', ...readdirSync(at)]) chownSync(join(at, name), 61_199, 61_199);
          }),
          directory: '../other',
          ...create,
        } as const,
      ]
    : []),
  ...REVISIONS.flatMap(([title, names, code, ...says]) =>
    names.map((name): BadInput => {
      const of = typeof name === 'string' ? () => name : name;
      return {
        title,
        input: typeof name === 'string' ? name : String(name).replace(/^.*=> /, ''),
        code,
        says,
        arrange: ({ scratch }) => {
          scratch.git('tag', 'a-tree', 'HEAD^{tree}');
          return () => void scratch.git('tag', '-d', 'a-tree');
        },
        library: (litterbox, fixture) => litterbox.create({ name: 'new', from: of(fixture) }),
        ...(typeof name === 'string' && { args: ['create', 'new', `--from=${name}`] }),
      };
    }),
  ),
  {
    title: 'B64: the start of several ids',
    input: 'four digits',
    code: 'REV_AMBIGUOUS',
    says: ['is the start of several object ids'],
    arrange: twins,
    library: (litterbox, { scratch }) => litterbox.create({ name: 'new', from: scratch.git('config', 'twin.prefix') }),
  },
  ...(
    [
      ['nothing in HEAD', 'printf "" >.git/HEAD'],
      ['HEAD is noise', 'printf "\\377\\000noise\\n\\n" >.git/HEAD'],
      ['HEAD leads out', 'echo "ref: ../../x" >.git/HEAD'],
      ['no HEAD', 'rm .git/HEAD'],
      ['a configuration that cannot be read', 'printf "[core\\nx = \\n" >.git/config'],
      ['a branch that is noise', 'echo noise >.git/refs/heads/main'],
      ['a newer format', 'git config core.repositoryFormatVersion 9'],
      [
        'an extension that is not known',
        'git config core.repositoryFormatVersion 1; git config extensions.fromTheFuture true',
      ],
      ['a git file that leads nowhere', 'rm -r .git; echo "gitdir: /nowhere" >.git'],
      ['a git file that is noise', 'rm -r .git; echo noise >.git'],
    ] as const
  ).map(
    ([input, script]): BadInput => ({
      title: 'B66: a repository that is damaged',
      input,
      code: 'REPO_CORRUPT',
      says: ['other'],
      arrange: beside(`${COMMITTED}; ${script}`),
      directory: '../other',
      ...create,
    }),
  ),
  ...(
    [
      ['the commit', 'HEAD'],
      ['the tree', 'HEAD^{tree}'],
    ] as const
  ).map(
    ([input, name]): BadInput => ({
      title: 'B66: an object that is missing',
      input,
      code: 'OBJECT_MISSING',
      says: ['lacks the object'],
      arrange: beside(
        `${COMMITTED}; id=$(git rev-parse '${name}'); rm -f ".git/objects/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)"`,
      ),
      directory: '../other',
      ...create,
    }),
  ),
  {
    title: 'B66: an object that is missing',
    input: 'a file, in a partial clone',
    code: 'OBJECT_MISSING',
    says: ['lacks the object'],
    arrange: beside(
      `mkdir from && cd from && ${COMMITTED} && git config uploadpack.allowFilter true && cd .. && git clone -q --filter=blob:none --no-checkout "file://$PWD/from" to && mv from gone`,
    ),
    directory: '../other/to',
    ...create,
  },
];

/** Two objects whose ids begin with the same four digits. */
function twins({ scratch }: BadInputFixture): () => void {
  const seen = new Map<string, string>();
  for (let index = 0; ; index += 1) {
    const content = `twin ${index}`;
    const id = createHash('sha1').update(`blob ${content.length}\0${content}`).digest('hex');
    const other = seen.get(id.slice(0, 4));
    seen.set(id.slice(0, 4), content);
    if (other === undefined) continue;
    for (const one of [content, other]) {
      writeFileSync(join(scratch.directory, 'twin'), one);
      scratch.git('hash-object', '-w', join(scratch.directory, 'twin'));
    }
    scratch.git('config', 'twin.prefix', id.slice(0, 4));
    return () => void scratch.git('config', '--remove-section', 'twin');
  }
}
