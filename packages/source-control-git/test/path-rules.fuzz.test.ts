import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isLitterboxError } from '@litterbox/core/provider';
import * as fc from 'fast-check';
import { parseMergeArguments } from '../src/person/merge-arguments.ts';
import { pathFault } from '../src/objects/path-rules.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));
const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'litterbox-paths-'));
  execFileSync('git', ['init', '-q', directory]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Of these paths, in bytes as characters, the ones that git takes into an index when it guards every file system. */
function takenByGit(paths: readonly string[]): readonly string[] {
  const settings = ['-C', directory, '-c', 'core.protectHFS=true', '-c', 'core.protectNTFS=true'];
  rmSync(join(directory, '.git/index'), { force: true });
  return paths.filter((path) => {
    const input = Buffer.from(`100644 ${EMPTY_BLOB}\t${path}\0`, 'latin1');
    return spawnSync('git', [...settings, 'update-index', '-z', '--index-info'], { input }).status === 0;
  });
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const piece = fc.constantFrom(
  '.',
  '..',
  '.git',
  'git',
  '.GIT',
  '.gIt',
  'GIT~1',
  'git~1',
  'git~2',
  '/',
  '\\',
  ' ',
  ':',
  '::$INDEX_ALLOCATION',
  'a',
  '.gitmodules',
  '~',
  '1',
  ...['\u200c', '\u200d', '\ufeff', '\u202a', '\u0130', 'ı'].map(latin1),
  '\xff',
  '\n',
);
const path = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));

describe('paths that never become part of a tree', () => {
  test('whatever git refuses on any file system is refused here too', () => {
    fc.assert(
      fc.property(path, (one) => {
        if (pathFault(one) === undefined)
          expect({ one, takenByGit: takenByGit([one]) }).toEqual({ one, takenByGit: [one] });
      }),
      { numRuns: runs(200) },
    );
  });

  test('what is refused is nothing that people use', () => {
    for (const one of [
      'a',
      '.gitignore',
      '.github/x',
      'x.git',
      'git',
      '.git-blame-ignore-revs',
      'a b',
      'ü',
      'con',
      '~',
      'a~1',
      '...',
      '-',
      'a\\b',
    ])
      expect({ one, pathFault: pathFault(latin1(one)) }).toEqual({ one, pathFault: undefined });
  });
});

describe('arguments of git merge', () => {
  const word = fc.oneof(
    fc.constantFrom(
      '-s',
      '-X',
      '-m',
      '--strategy',
      '--strategy-option',
      '--strategy=ort',
      '-sours',
      '-Xtheirs',
      '--no-ff',
      '--ff',
      '--ff-only',
      '--squash',
      '--signoff',
      '-S',
      '-Skey',
      '-S-x',
      '--',
      '-',
      '--exec=x',
      '-c',
      '--upload-pack',
      'ours',
      'theirs',
      'subtree=x',
      'subtree=-x',
      'patience',
      '-m-x',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const STRATEGIES = ['ort', 'ours', 'subtree'];
  const OPTIONS = /^(?:[a-z-]+|(?:find-renames|rename-threshold)=\d+%?|diff-algorithm=[a-z]+|subtree(?:=[^-].*)?)$/s;

  test('are refused by name, or become what the allow-list knows', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (args) => {
        try {
          const { strategy, strategyOptions, signingKey } = parseMergeArguments(args);
          expect(STRATEGIES).toContain(strategy);
          for (const option of strategyOptions) expect(option).toMatch(OPTIONS);
          expect(signingKey ?? '').not.toMatch(/^-|\s/);
        } catch (error) {
          expect(isLitterboxError(error, 'MERGE_ARG_NOT_ALLOWED') && error.details.hint).toEqual(expect.any(String));
        }
      }),
      { numRuns: runs(3000) },
    );
  });
});
