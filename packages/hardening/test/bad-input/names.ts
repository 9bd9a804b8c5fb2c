import type { LitterboxErrorCode } from '@litterbox/core';
import type { Litterbox } from 'litterbox';
import type { BadInput } from './bad-input-fixture.ts';

type Names = readonly [title: string, names: readonly string[], code: LitterboxErrorCode, ...says: readonly string[]];

const NAMES: readonly Names[] = [
  ['B27: NUL in a name', ['a\0b', '\0'], 'NAME_NUL', 'Name "', '\\u0000', 'holds a NUL character'],
  [
    'B28: a name that is taken, however it is written',
    ['Ready', 'READY', '-ready-', 'ready!', ' ready ', 'ｒｅａｄｙ'],
    'SANDBOX_EXISTS',
    'There is a sandbox ready (from "',
    'already',
  ],
  [
    'B28: a name that is taken, however it is written',
    [`ready${'!'.repeat(5000)}`],
    'SANDBOX_EXISTS',
    'There is a sandbox ready (from "ready!!!',
    '…',
  ],
  [
    'B29: a name of no letter or digit',
    ['', ' ', '-', '###', '_', '..', '/', '🦊', '\u202e', 'д', '\u0301', '\n'],
    'NAME_INVALID',
    'Name ',
    'has no letter a-z or digit',
  ],
  [
    'B29: a name too long',
    ['x'.repeat(41), 'ﷺ'.repeat(3) + 'x'.repeat(41), 'x'.repeat(100_000), `a${' b'.repeat(30)}`],
    'NAME_INVALID',
    'Name "',
    'at most 40 are allowed',
  ],
  [
    'B30: a name that means something else',
    ['HEAD', 'head', 'con', 'CON', 'nul', 'aux', 'prn', 'all', 'ALL', 'ＨＥＡＤ', 'all-envs', 'all repos'],
    'NAME_RESERVED',
    'Name "',
    'is reserved',
  ],
];

const TYPES: readonly unknown[] = [5, null, [], ['a'], {}, true, Number.NaN];
const asName = (value: unknown) => value as string;

const DOORS: readonly (readonly [name: string, call: (litterbox: Litterbox, name: string) => unknown])[] = [
  ['create', (litterbox, name) => litterbox.create({ name })],
  ['open', (litterbox, name) => litterbox.open(name)],
  ['delete', (litterbox, name) => litterbox.delete(name)],
  ['merge', (litterbox, name) => litterbox.merge(name)],
  ['assurance', (litterbox, name) => litterbox.assurance(name)],
  ['setRunState', (litterbox, name) => litterbox.setRunState(name, 'paused')],
  ['changes', (litterbox, name) => litterbox.changes(name)],
];

export const SANDBOX_NAMES: readonly BadInput[] = [
  ...NAMES.flatMap(([title, names, code, ...says]) =>
    names.map(
      (name): BadInput => ({
        title,
        input: name,
        code,
        says,
        library: (litterbox) => litterbox.create({ name }),
        // No program can be given a NUL, and what begins with a dash is an option unless a -- stands before.
        ...(!name.includes('\0') && { args: ['create', '--', name] }),
      }),
    ),
  ),
  ...['--all-envs', '--help-me', '-z', '-x'].map(
    (name): BadInput => ({
      title: 'B30: an option in place of a name',
      input: name,
      code: 'ARG_UNKNOWN',
      says: [`unknown option '${name}'`],
      args: ['create', name],
    }),
  ),
  ...DOORS.flatMap(([door, call]) =>
    TYPES.map(
      (value): BadInput => ({
        title: 'B32: a name of another type',
        input: `${door}: ${JSON.stringify(value)}`,
        code: 'ARG_TYPE',
        says: [door === 'create' ? 'name: got ' : 'sandbox: got ', 'want string'],
        library: (litterbox) => call(litterbox, asName(value)),
      }),
    ),
  ),
  ...DOORS.filter(([door]) => door !== 'create').flatMap(([door, call]) =>
    ['nobody', '../ready/x', '0', 'ready2', crypto.randomUUID().slice(0, 23)].map(
      (name): BadInput => ({
        title: 'B33: a name that no sandbox has',
        input: `${door}: ${name}`,
        code: 'SANDBOX_NOT_FOUND',
        says: ['There is no sandbox "', 'in this repository'],
        library: (litterbox) => call(litterbox, name),
      }),
    ),
  ),
  ...(
    [
      ['log'],
      ['diff'],
      ['milestone', 'x'],
      ['apply'],
      ['merge'],
      ['delete'],
      ['pause'],
      ['resume'],
      ['recover'],
      ['worktree'],
      ['explain'],
      ['restore', '1'],
      ['run', 'true'],
    ] as const
  ).map(
    ([verb, ...rest]): BadInput => ({
      title: 'B33: a name that no sandbox has',
      input: `litterbox ${verb}`,
      code: 'SANDBOX_NOT_FOUND',
      says: ['There is no sandbox "nobody" in this repository'],
      args: [verb, 'nobody', ...rest],
    }),
  ),
];

/** Names that are taken, and what becomes of them. */
export const GOOD_NAMES: readonly (readonly [title: string, name: string, slug: string])[] = [
  ['B26: spaces and signs become dashes', 'Fix Bug #12', 'fix-bug-12'],
  ['B27: a path becomes a word', 'a/../b', 'a-b'],
  ['B27: a path becomes a word', '../../x', 'x'],
  ['B30: the name of a branch', 'main', 'main'],
  ['B31: letters that look like others are left out', '\u0430dmin', 'dmin'],
  ['B31: letters that look like others are left out', 'ａ', 'a'],
  ['B31: letters that look like others are left out, and an accent leaves its letter', 'e\u0301tude\u202e', 'etude'],
];
