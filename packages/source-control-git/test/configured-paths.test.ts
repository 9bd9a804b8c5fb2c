import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { configuredPaths } from '../src/person/configured-paths.ts';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'litterbox-configured-')));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const root = join(directory, 'repository');
mkdirSync(join(root, 'tools/hooks'), { recursive: true });
writeFileSync(join(root, 'tools/run'), '');
symlinkSync(join(root, 'tools'), join(directory, 'outside'));
symlinkSync('tools', join(root, 'link'));

const of = (key: string, value: string, origin = 'file:.git/config') =>
  configuredPaths(root, [origin, `${key}\n${value}`, '']);
const RUN = 'tools/run';

describe('what of the tree a configuration of git names', () => {
  it.each([
    ['filter.x.smudge', 'tools/run'],
    ['filter.x.smudge', './tools//run %f'],
    ['filter.X.process', `sh -c 'exec "tools/../tools/run"'`],
    ['diff.x.textconv', join(root, RUN)],
    ['merge.x.driver', `env A=${join(directory, 'outside/run')} %O`],
    ['alias.x', '!cd "$(git rev-parse --show-toplevel)"; tools/run'],
    ['alias.x', '!"$PWD"/tools/run'],
    ['gpg.program', 'link/run'],
    ['core.editor', `~/${relative(homedir(), join(root, RUN))}`],
    ['core.editor', `$HOME/${relative(homedir(), join(root, RUN))}`],
    ['credential.https://host.test.helper', '!tools/run'],
    ['hook.x.command', 'tools/run --now'],
    ['core.attributesfile', 'tools/run'],
    ['some.key', 'Tools/RUN'],
    // What a shell makes of it is not known.
    ['filter.x.smudge', '$PWD/tools/run'],
    ['filter.x.smudge', 'cd tools && ./r?n'],
    ['filter.x.clean', 'tools/*n'],
    ['filter.x.clean', 'D=tools; $D/run'],
    ['diff.x.textconv', 'tools/[a-z]un --text'],
  ])('%s = %s', (key, value) => {
    const found = of(key, value);
    expect({
      firstFoundReasonOf: found.reasonOf(RUN),
      secondFoundReasonOf: found.reasonOf('tools/other'),
      thirdFoundReasonOf: found.reasonOf('src/a.txt'),
    }).toEqual({
      firstFoundReasonOf: expect.stringContaining(`is run or read by your git (${key}`),
      secondFoundReasonOf: undefined,
      thirdFoundReasonOf: undefined,
    });
  });

  it.each([
    ['user.name', 'run'],
    ['remote.origin.url', '../elsewhere/run'],
    ['filter.lfs.smudge', 'git-lfs smudge -- %f'],
    ['filter.x.smudge', '/usr/bin/env'],
    ['alias.x', '!f() { git log "$1" -- "$@"; }; f'],
    ['alias.x', '!git for-each-ref refs/heads/*'],
    ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'],
  ])('not %s = %s', (key, value) => {
    for (const path of [RUN, 'run', 'src/a.txt']) expect(of(key, value).reasonOf(path)).toBeUndefined();
  });

  it('files of the configuration, those that are not there yet too', () => {
    const found = configuredPaths(root, [
      'file:.git/../conf/git',
      'a.b\nc',
      'file:.git/config',
      'include.path\n../more',
      '',
    ]);
    for (const path of ['conf/git', 'more'])
      expect(found.reasonOf(path)).toBe('is part of the configuration of your git');
    expect(of('includeif.gitdir:/x/.path', join(directory, 'outside/run')).reasonOf(RUN)).toBeDefined();
  });

  it.each(['tools/hooks', './tools//hooks/', join(root, 'tools/hooks'), join(directory, 'outside/hooks'), '.'])(
    'hooks at %s',
    (value) =>
      expect(of('core.hookspath', value).reasonOf('tools/hooks/post-merge')).toBe('defines hooks that git runs'),
  );

  it('nothing of what we say ourselves', () => {
    expect(of('core.hookspath', 'tools/hooks', 'command line:').reasonOf('tools/hooks/x')).toBeUndefined();
  });

  it('tells whose filter a program is', () => {
    const fields = ['file:a', 'filter.My.Own.clean\ntools/run', 'file:a', 'filter.lfs.smudge\ngit-lfs smudge', ''];
    const found = configuredPaths(root, fields);
    expect(found.filtersAmong(['src/a.txt', RUN])).toEqual(['My.Own']);
    expect(found.filtersAmong(['src/a.txt'])).toEqual([]);
  });
});
