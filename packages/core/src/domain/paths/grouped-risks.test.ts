import { describe, expect, it } from '@jest/globals';
import { groupedRisks, riskFacts, riskLines, riskNames } from './grouped-risks.ts';
import { LATER_REASONS, whatRunsLater } from './known-files.ts';

const named = (path: string, ...more: readonly string[]) => ({ path, reasons: [...more, ...whatRunsLater(path)] });

describe('what a person is told can run code', () => {
  it('is by reason, the most dangerous first, each file once with all that there is to say of it', () => {
    const risky = [
      named('a.bin', 'is binary: a diff does not show what it holds'),
      named('.github/workflows/x.yml'),
      named('Makefile', 'becomes executable'),
      named('tools/sign', 'is run or read by your git (gpg.program)'),
      named('.env'),
      named('.vscode/tasks.json'),
    ];
    expect(riskLines(risky)).toEqual([
      'runs when a folder is opened in an editor:',
      '  .vscode/tasks.json',
      'is loaded by the shell or a version manager on entering the directory:',
      '  .env',
      'is run or read by your git (gpg.program):',
      '  tools/sign',
      'runs when the project is built:',
      '  Makefile: becomes executable',
      'runs in continuous integration:',
      '  .github/workflows/x.yml',
      'is binary: a diff does not show what it holds:',
      '  a.bin',
    ]);
    expect(riskNames(risky)).toBe('.vscode/tasks.json, .env, tools/sign, Makefile, .github/workflows/x.yml …');
  });

  it('AX123: has one line for a hidden directory, and never more than forty, whatever an agent makes', () => {
    const notes = Array.from({ length: 3_000 }, (_, at) =>
      named(`.notes/deep/${at}.md`, 'lies in a new hidden directory'),
    );
    const lines = riskLines([...notes, named('.env')]);
    expect(lines).toEqual([
      'is loaded by the shell or a version manager on entering the directory:',
      '  .env',
      'lies in a new hidden directory (3000 files):',
      '  .notes/deep/ (3000 files)',
    ]);
    const many = Array.from({ length: 2_000 }, (_, at) => named(`p${at}/.vscode/tasks.json`));
    const makefiles = Array.from({ length: 2_000 }, (_, at) => named(`p${at}/Makefile`));
    const bounded = riskLines([...notes, ...makefiles, ...many, named('.env')]);
    expect(bounded).toHaveLength(41);
    expect(bounded.slice(0, 2)).toEqual([
      'runs when a folder is opened in an editor (2000 files):',
      '  p0/.vscode/tasks.json',
    ]);
    for (const line of ['  .env', '  p0/Makefile', '  .notes/deep/ (3000 files)']) expect(bounded).toContain(line);
    expect(bounded.at(-1)).toBe('and 3966 more');
    expect(riskLines([...many, ...makefiles])).toHaveLength(41);
  });

  it('AX123: has one entry at least of every reason, and those that find no room are counted', () => {
    const risky = Array.from({ length: 60 }, (_, at) => named(`f${at}`, `is run or read by your git (alias.a${at})`));
    const { groups, files, unlisted } = groupedRisks([...risky, named('.env')]);
    expect({ groups: groups.length, files, unlisted }).toEqual({ groups: 20, files: 61, unlisted: 41 });
    expect(groups[0]?.entries).toEqual([{ path: '.env', files: 1, also: [] }]);
  });

  it('is for programs the number of all, and the most dangerous thousand', () => {
    const risky = [...Array.from({ length: 5_000 }, (_, at) => named(`p${at}/Makefile`)), named('.vscode/tasks.json')];
    const facts = riskFacts(risky);
    expect({ files: facts.files, listed: facts.risky.length, first: facts.risky[0]?.path }).toEqual({
      files: 5_001,
      listed: 1_000,
      first: '.vscode/tasks.json',
    });
  });

  it('keeps names of several lines on one', () => {
    expect(riskLines([named('.vscode/a\n  .env')])).toHaveLength(2);
  });

  it('begins with what a folder that is opened runs', () => {
    expect(LATER_REASONS.slice(0, 4)).toEqual([
      'runs when a folder is opened in an editor',
      'is loaded by the shell or a version manager on entering the directory',
      'instructs or configures coding agents',
      'defines hooks that git runs',
    ]);
  });
});
