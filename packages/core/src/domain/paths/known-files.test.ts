import { describe, expect, it } from '@jest/globals';
import { isReadBySetups, whatRunsLater } from './known-files.ts';

describe('what runs later', () => {
  it.each([
    ['package.json', 'decides what runs or is fetched when packages are installed'],
    ['deep/er/.VSCode/Tasks.json', 'runs when a folder is opened in an editor'],
    ['vite.config.mts', 'runs when the project is built'],
    ['docs/conf.py', 'runs when Python, its tests or its tools start'],
    ['mise/config.toml', 'is loaded by the shell or a version manager on entering the directory'],
    ['.config/mise/conf.d/x.toml', 'is loaded by the shell or a version manager on entering the directory'],
    ['android/gradle/wrapper/gradle-wrapper.properties', 'runs when the project is built'],
    ['requirements/requirements-dev.txt', 'decides what runs or is fetched when packages are installed'],
    ['Package@swift-5.9.swift', 'decides what runs or is fetched when packages are installed'],
    ['sub/project/Build.scala', 'runs when the project is built'],
    ['.newtoolrc', 'configures a tool that runs on your machine'],
    ['src-tauri/tauri.conf.json', 'runs when the project is built'],
    ['sub/new-tool-config.ts', 'runs when the project is built'],
    ['sub/some.config.zig', 'runs when the project is built'],
    ['Makefile.am', 'runs when the project is built'],
    ['hatch_build.py', 'runs when the project is built'],
    ['build.zsh', 'runs when the project is built'],
    ['installer/x.wixproj', 'runs when the project is built'],
    ['sub/PRESUBMIT', 'runs when the project is built'],
    ['Newtoolfile', 'runs when the project is built'],
    ['sub/DEPS', 'runs when the project is built'],
    ['data/COUNTRIES', 'runs when the project is built'],
    ['CONFIGURE', 'runs when the project is built'],
    ['HEADS', 'runs when the project is built'],
    ['docs/Makefile.mk', 'runs when the project is built'],
    ['docs/Makefile.txt', 'runs when the project is built'],
    ['webpack.config.coffee.md', 'runs when the project is built'],
    ['sub/claude.local.md', 'instructs or configures coding agents'],
    ['.clinerules.md', 'instructs or configures coding agents'],
    ['.github/CODEOWNERS', 'runs in continuous integration'],
    ['NEWAGENT.md', 'instructs or configures coding agents'],
    ['conventions.md', 'instructs or configures coding agents'],
    ['memory-bank/progress.md', 'instructs or configures coding agents'],
    ['sub/binding.gyp', 'decides what runs or is fetched when packages are installed'],
    ['ext/x/extconf.rb', 'decides what runs or is fetched when packages are installed'],
    ['debian/rules', 'runs when the project is built'],
    ['app.spec', 'runs when the project is built'],
    ['.ddev/commands/web/x', 'decides what containers and machines run'],
  ])('%s: %s', (path, reason) => expect(whatRunsLater(path)).toContain(reason));

  it.each([
    'src/main.ts',
    'README.md',
    'CONTRIBUTING.md',
    'docs/NOTES.md',
    'LICENSE',
    'sub/VERSION',
    'src/build.ts',
    'src/profile',
    'src/config.ts',
    'docs/make.md',
    'src/packages/json.ts',
    'test/dockerfiles/readme',
    'src/Build.scala',
    'project/readme.md',
    'lib/config.exs',
    'src/app.spec.ts',
    'docs/rules',
    'CODEOWNERS',
    'docs/CODEOWNERS',
    'sub/OWNERS',
    'CON',
    'sub/NUL',
    'data/HEAD',
    'docs/Makefile.md',
    'docs/webpack.md',
    'deploy.md',
    'docs/eslint-rules.rst',
    'docs/app.config.adoc',
    'docs/Dockerfile.markdown',
  ])('nothing is known of %s', (path) => expect(whatRunsLater(path)).toEqual([]));
});

describe('what setups read', () => {
  it.each(['package.json', 'Cargo.lock', 'requirements-dev.txt', 'constraints.in', 'GNUmakefile', '.gitmodules'])(
    '%s',
    (name) => expect(isReadBySetups(name)).toBe(true),
  );

  it.each(['AGENTS.md', 'Dockerfile', 'package.json.md', 'requirements.md'])('not %s', (name) =>
    expect(isReadBySetups(name)).toBe(false),
  );

  it('and runs later too', () => {
    for (const name of [
      'Cargo.toml',
      'composer.json',
      'mix.exs',
      'Makefile',
      'mise.lock',
      'Package@swift-5.swift',
      'libs.versions.toml',
    ])
      expect({ name, isReadBySetups: isReadBySetups(name), isLengthAbove: whatRunsLater(name).length > 0 }).toEqual({
        name,
        isReadBySetups: true,
        isLengthAbove: true,
      });
  });
});
