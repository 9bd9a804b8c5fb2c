import { describe, expect, it } from '@jest/globals';
import { type HostFacts } from '@litterbox/core/provider';
import { isOfPerson, type ToolFacts, toolDirectoriesOf } from './tool-directories.ts';

const FACTS: HostFacts = {
  platform: 'linux',
  kernelRelease: '6.1.0',
  architecture: 'x64',
  uid: 1000,
  homeDirectory: '/home/me',
  searchPath: [],
  repositoryTop: '/home/me/work',
} as unknown as HostFacts;

const shownBy = (searchPath: readonly string[], tools: Partial<ToolFacts> = {}) => {
  const { directories, unreachable } = toolDirectoriesOf(
    { ...FACTS, searchPath },
    {
      realPaths: new Map(searchPath.map((path) => [path, path])),
      managers: [],
      links: [],
      parts: [],
      environments: [],
      libraries: [],
      ...tools,
    },
  );
  return { paths: directories.map(({ path }) => path), unreachable: unreachable.map(({ path }) => path) };
};

describe('toolDirectoriesOf', () => {
  it('takes the libraries beside a directory of programs', () => {
    const parts = ['/home/me/jdk/lib', '/home/me/jdk/conf', '/home/me/other/lib'];
    expect(shownBy(['/home/me/jdk/bin'], { parts })).toEqual({
      paths: ['/home/me/jdk/bin', '/home/me/jdk/lib', '/home/me/jdk/conf'],
      unreachable: [],
    });
  });

  it('takes nothing beside the programs of a home, which is not one installation', () => {
    const parts = ['/home/me/lib', '/home/me/.local/lib'];
    expect(shownBy(['/home/me/bin', '/home/me/.local/bin'], { parts }).paths).toEqual([
      '/home/me/bin',
      '/home/me/.local/bin',
    ]);
  });

  it.each([
    ['/home/me/npm/lib/node_modules/pnpm/bin/pnpm.cjs', ['/home/me/npm/lib/node_modules']],
    ['/home/me/.local/share/pipx/venvs/ruff/bin/ruff', ['/home/me/.local/share/pipx/venvs/ruff']],
    ['/srv/tools/kit/bin/kit', ['/srv/tools/kit/bin', '/srv/tools/kit/lib']],
    ['/opt/google/chrome/chrome', ['/opt/google']],
    ['/usr/bin/python3', []],
  ])('takes what a program leads to: %s', (target, paths) => {
    const told = shownBy(['/home/me/bin'], {
      links: [{ path: '/home/me/bin/tool', target }],
      parts: ['/srv/tools/kit/lib'],
      environments: ['/home/me/.local/share/pipx/venvs/ruff'],
    });
    expect(told).toEqual({ paths: ['/home/me/bin', ...paths], unreachable: [] });
  });

  it.each([
    '/home/me/src/dotfiles/tool.sh',
    '/home/me/.ssh/tool',
    '/opt/tool',
    '/home/me/work/node_modules/x/cli.js',
    '/home/me/bin.sh',
    '/home/me/.aws/node_modules/x/cli.js',
    '/proc/1/root/node_modules/x',
  ])('tells what it does not take: %s', (target) => {
    expect(
      shownBy(['/home/me/bin'], { links: [{ path: '/home/me/bin/tool', target }], parts: ['/home/me/lib'] }),
    ).toEqual({ paths: ['/home/me/bin'], unreachable: ['/home/me/bin/tool'] });
  });

  it('takes what a virtual environment runs on', () => {
    const told = shownBy(['/home/me/bin'], {
      links: [
        { path: '/home/me/bin/tool', target: '/home/me/tools/tool/bin/tool' },
        { path: '/home/me/tools/tool/bin/python3', target: '/home/me/pythons/3.13/bin/python3.13' },
      ],
      environments: ['/home/me/tools/tool'],
      parts: ['/home/me/pythons/3.13/lib'],
    });
    expect(told).toEqual({
      paths: ['/home/me/bin', '/home/me/tools/tool', '/home/me/pythons/3.13/bin', '/home/me/pythons/3.13/lib'],
      unreachable: [],
    });
  });

  it('takes what programs of the system lead to in /opt, and nothing for those of a directory that is not shown', () => {
    const links = [
      { path: '/usr/bin/browser', target: '/opt/browser/bin/run' },
      { path: '/home/me/work/bin/tool', target: '/opt/other/run' },
    ];
    expect(shownBy(['/home/me/work/bin'], { links })).toEqual({ paths: ['/opt/browser'], unreachable: [] });
  });

  it('takes few of many', () => {
    const links = Array.from({ length: 100 }, (_, index) => ({
      path: `/home/me/bin/t${index}`,
      target: `/srv/${index}/node_modules/x/cli.js`,
    }));
    const { paths, unreachable } = shownBy(['/home/me/bin'], { links });
    expect({ shown: paths.length, left: unreachable.length }).toEqual({ shown: 65, left: 36 });
  });
});

it('looks for logins in the home of a build server, which is below /var/lib, and not in what dpkg keeps', () => {
  expect(['/var/lib/jenkins/.pyenv', '/var/lib/dpkgs', '/home/me/go/bin'].every(isOfPerson)).toBe(true);
  expect(['/var/lib/dpkg', '/var/lib/gems/3.1.0'].some(isOfPerson)).toBe(false);
});
