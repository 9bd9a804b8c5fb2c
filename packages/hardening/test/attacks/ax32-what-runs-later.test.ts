// What the person's git runs out of the tree, and what else runs later: nothing of it comes in without its name and a yes.
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { type AttackFixture, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

const SMUDGE = '#!/bin/sh\ncat\n';
const FILES = {
  'src/a.txt': 'a\n',
  '.gitattributes': '*.dat filter=mine\n',
  'scripts/smudge.sh': SMUDGE,
  'scripts/sign': '#!/bin/sh\n',
  'tools/own/pre-commit': '#!/bin/sh\n',
  'conf/gitconf': '',
  'conf/attributes': '*.bin filter=mine\n',
  'z.dat': 'z\n',
};

/** A person whose own configuration names files of the tree, by many spellings. */
function configure({ scratch }: AttackFixture): void {
  const { git, repository } = scratch;
  for (const path of ['scripts/smudge.sh', 'scripts/sign', 'tools/own/pre-commit'])
    chmodSync(join(repository, path), 0o755);
  git('commit', '-qam', 'programs');
  git('config', 'filter.mine.smudge', 'sh -c "exec ./scripts/../scripts/smudge.sh %f"');
  git('config', 'filter.mine.clean', 'cat');
  git('config', 'include.path', '../conf/gitconf');
  git('config', '--add', 'include.path', '../conf/not-there-yet');
  git('config', 'core.attributesFile', `${repository}/conf/attributes`);
  git('config', 'gpg.program', './scripts/sign');
  git('config', 'alias.fix', '!"$(git rev-parse --show-toplevel)"/bin/fix --all');
}

const named = async (fixture: AttackFixture) =>
  (await fixture.open().plan({ sandbox: 'a', integration: 'merge' })).risky.map(({ path }) => path).toSorted();

describe('what runs later', () => {
  attack(
    'AX32: files of the tree that git of the person runs or reads are named, however the configuration spells them',
    async (fixture) => {
      const { scratch } = fixture;
      configure(fixture);
      symlinkSync('tools/own', join(scratch.directory, 'outside'));
      fixture.acceptRepository();
      const sandbox = await fixture.open().create({ name: 'a' });
      const changed = [
        'scripts/smudge.sh',
        'scripts/sign',
        'conf/gitconf',
        'conf/not-there-yet',
        'conf/attributes',
        'bin/fix',
      ];
      await fixture.run(sandbox, [
        'sh',
        '-c',
        'mkdir bin; for f do echo "# x" >>"$f"; done; echo x >>src/a.txt',
        'sh',
        ...changed,
      ]);
      expect(await named(fixture)).toEqual(changed.toSorted());
      await fixture.run(sandbox, 'git checkout -q . 2>/dev/null; echo "# x" >>tools/own/pre-commit');
      for (const hooks of [
        'tools/own',
        './tools/own',
        'tools//own/',
        'src/../tools',
        `${scratch.repository}/tools/own`,
      ]) {
        scratch.git('config', 'core.hooksPath', hooks);
        fixture.acceptRepository();
        expect({ hooks, namedIncludes: (await named(fixture)).includes('tools/own/pre-commit') }).toEqual({
          hooks,
          namedIncludes: true,
        });
      }
      scratch.git('config', 'core.hooksPath', '/nowhere'); // positive control: it is the configuration that names it
      fixture.acceptRepository();
      expect(await named(fixture)).not.toContain('tools/own/pre-commit');
      await expect(fixture.open().merge('a')).rejects.toMatchObject({ code: 'RISKY_CHANGES' });
    },
    { ...FILES },
  );

  attack(
    'AX32: a filter of the person that lies in the tree does not run as the agent changed it',
    async (fixture) => {
      const { scratch, marks } = fixture;
      configure(fixture);
      fixture.acceptRepository();
      const sandbox = await fixture.open().create({ name: 'a' });
      await sandbox.files.write('scripts/smudge.sh', `#!/bin/sh\n${marks.touch('smudge')}\ncat\n`);
      await sandbox.files.write('z.dat', 'zz\n');
      commandLine(fixture, ['diff', 'a']);
      for (const integration of ['merge', 'apply'] as const) {
        const refused = commandLine(fixture, [integration, 'a', '--yes-risky']);
        expect({ integration, code: refused.code, stderr: refused.stderr }).toEqual({
          integration,
          code: 5,
          stderr: expect.stringContaining('filter mine'),
        });
      }
      expect(marks.found()).toEqual([]);
      expect(await fixture.achieved()).toEqual([]);
      // The program alone is the person's to say yes to; git runs it when they next write such a file.
      await sandbox.files.write('z.dat', 'z\n');
      commandLine(fixture, ['diff', 'a']);
      expect(commandLine(fixture, ['merge', 'a', '--yes-risky'])).toMatchObject({ code: 0 });
      expect(marks.found()).toEqual([]);
      scratch.file('z.dat', 'changed');
      scratch.git('checkout', 'z.dat');
      positiveControl('git checkout of a file that goes through it', marks.found(), (found) =>
        found.includes('smudge'),
      );
      marks.clear();
      fixture.acceptRepository();
    },
    { ...FILES },
  );

  const NAMES =
    `opencode.json opencode.jsonc AGENTS.override.md AGENT.md QWEN.md WARP.md CRUSH.md crush.json .rules .goosehints .roomodes
llms.txt .kiro/x .junie/x .amazonq/x .qwen/x .continue/x .augment/x .augment-guidelines .trae/x .agents/x .agent/x .claude-plugin/x
.openhands/setup.sh gemini-extension.json SKILL.md .bsp/x.json .helix/x x.sublime-project .lvimrc .vim/x .dir-locals-2.el
.ycm_extra_conf.py .run/x .theia/x .vs/x nbproject/x .settings/x .project Cargo.toml rust-toolchain rust-toolchain.toml tsconfig.json
.mise/x .config/mise/x mise-tasks/x .rvmrc .Rprofile .ghci .pdbrc .octaverc .irbrc .pryrc .hg/hgrc .jj/x ansible.cfg composer.json nx.json
project.json turbo.json pnpm-workspace.yaml .pylintrc mypy.ini .flake8 .rubocop.yml .rspec x.gemspec mix.exs build.sbt x.csproj
Directory.Build.props Package.swift hardhat.config.js .storybook/x cypress.config.js conf.py book.toml dvc.yaml Snakefile SConstruct
gunicorn.conf.py Pipfile x.tf Tiltfile .gitpod.yml devbox.json devenv.nix .simple-git-hooks.json .git-hooks/x git-hooks/x githooks/x
.gitlab/x .cirrus.yml appveyor.yml buildspec.yml cloudbuild.yaml .woodpecker.yml .drone.yaml .teamcity/x Jenkinsfile.release
.azure-pipelines/x action.yml .v\u017fcode/tasks.json package.j\u017fon Ma\u212aefile .nobody-knows-it .a-tool-of-tomorrow/config`
      .split(/\s+/)
      // Below a directory nothing is named for being hidden at the top.
      .flatMap((name) => (name.startsWith('.nobody') || name.startsWith('.a-tool') ? [name] : [`sub/${name}`]));
  const LATER =
    `hie.yaml Package@swift-5.swift rebar.config.script project/Build.scala project/build.properties config/config.exs msbuild.rsp
Directory.Build.rsp x.rsp omnisharp.json Setup.hs package.yaml cabal.project.local xmake.lua Session.vim GEMINI.local.md JULES.md
BUGBOT.md knowledge.md codebuff.json renv/activate.R test/runtests.jl all.do Tupfile`
      .split(/\s+/)
      .map((name) => `sub/${name}`);
  const HIDDEN = [
    'sub/.markdownlint-cli2.mjs',
    'sub/.new/deep/x',
    'sub/.nobody-knows-it',
    'sub/.old/.newer',
    'sub/.filled/.gitkeep',
  ];
  attack(
    'AX57: names of less known tools are named, and so is every new hidden file, however deep it lies',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      const script = 'for f do mkdir -p "$(dirname "$f")" && echo x >"$f"; done';
      await fixture.run(sandbox, ['sh', '-c', script, 'sh', ...LATER, ...HIDDEN, 'sub/.old/more.txt', 'sub/notes.txt']);
      await sandbox.files.write('sub/empty/.gitkeep', '');
      await sandbox.files.write('sub/.old/x.txt', 'changed\n');
      expect(await named(fixture)).toEqual([...LATER, ...HIDDEN, 'sub/.old/more.txt', 'sub/.old/x.txt'].toSorted());
      const { risky } = await fixture.open().plan({ sandbox: 'a', integration: 'merge' });
      const reasonsOf = (name: string) => risky.find(({ path }) => path === name)?.reasons;
      expect(reasonsOf('sub/.old/.newer')).toEqual(['is a new hidden file']);
      expect(reasonsOf('sub/.new/deep/x')).toEqual(['lies in a new hidden directory']);
      expect(commandLine(fixture, ['merge', 'a'])).toMatchObject({ code: 4 });
    },
    { 'src/a.txt': 'a\n', 'sub/.old/x.txt': 'x\n' },
  );

  const DECEPTIONS = {
    'src/tags.txt': 'Read this.\u{e0041}\n',
    'src/selectors.js': `const a = "${String.fromCodePoint(0xe0100, 0xe0177)}";\n`,
    'src/reversed.js': '// \u202e if admin\n',
    'src/filler.js': 'const \u3164 = 1;\n',
    'src/joined.js': 'pass\u200bword\n',
    'src/known.txt': 'one\u200b\ntwo\u200b\n',
  };
  attack(
    'AX33: what runs later is named by whatever name a tool finds it, and so is text that nobody sees',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      const script = 'for f do mkdir -p "$(dirname "$f")" && echo x >"$f"; done';
      await fixture.run(sandbox, ['sh', '-c', script, 'sh', ...NAMES]);
      for (const [path, text] of Object.entries(DECEPTIONS)) await sandbox.files.write(path, text);
      for (const path of ['README.md', 'src/more.ts', 'sub/notes.txt', '.old/more.txt'])
        await sandbox.files.write(path, 'fine: \u00e9, \u2603, \ud83d\ude00\n');
      await sandbox.files.write('src/empty/.gitkeep', '');
      await sandbox.files.write('src/seen-before.txt', 'one\u200b\nfine\n');
      await sandbox.files.write('src/mark.txt', '\ufeffone\n');
      expect(await named(fixture)).toEqual([...NAMES, ...Object.keys(DECEPTIONS), '.old/more.txt'].toSorted());
      const refused = commandLine(fixture, ['merge', 'a']);
      expect(refused).toMatchObject({ code: 4 });
      for (const lines of [
        '  is a new hidden file:\n    .nobody-knows-it\n',
        '  lies in a new hidden directory:\n    .a-tool-of-tomorrow/config\n',
      ])
        expect(refused.stderr).toContain(lines);
    },
    { 'src/a.txt': 'a\n', '.old/x.txt': 'x\n', 'src/seen-before.txt': 'one\u200b\n', 'src/known.txt': 'one\u200b\n' },
  );

  /** A file of each kind, by the reason that it is named for. */
  const KINDS: Readonly<Record<string, readonly string[]>> = {
    'runs when a folder is opened in an editor': [
      '.vscode/tasks.json',
      'rust-analyzer.toml',
      'sub/launchSettings.json',
    ],
    'is loaded by the shell or a version manager on entering the directory': [
      '.envrc',
      '.prototools',
      '.shadowenv.d/x',
    ],
    'instructs or configures coding agents': ['CODEBUDDY.md', 'NEWAGENT.md', '.airules', '.grok/x', 'memory-bank/x.md'],
    'defines hooks that git runs': ['captainhook.json', 'hk.pkl', '.config/husky/x', '.lefthook/x'],
    'changes how git treats files': ['.gitattributes'],
    'runs when the project is built':
      `src-tauri/tauri.conf.json gatsby-config.js config-overrides.js Makefile.am Makefile.toml
sub/new-tool-config.ts sub/tool.config.zig hatch_build.py build.zsh x.wixproj PRESUBMIT Newtoolfile .bazelversion tools/bazel
package-scripts.js plopfile.js Jakefile premake5.lua x.cake x.runsettings x.tt RoboFile.php _targets.R src/Makevars bacon.toml`.split(
        /\s+/,
      ),
    'runs when Python, its tests or its tools start': ['sub/locustfile.py', 'pavement.py', 'uwsgi.ini'],
    'decides what runs or is fetched when packages are installed': [
      'Brewfile',
      'Puppetfile',
      '.config/dotnet-tools.json',
    ],
    'decides what containers and machines run': ['.ddev/config.yaml', '.lando.yml', 'okteto.yml', 'mprocs.yaml'],
    'runs in continuous integration': ['.github/workflows/x.yml'],
    'configures a tool that runs on your machine': ['.newtoolrc', '.versionrc.js', '.graphqlrc.js'],
    'is a hidden file': ['sub/.nobody-knows-it', 'sub/.size-limit.cjs'],
    'lies in a hidden directory': ['sub/.a-tool-of-tomorrow/config', '.scripts/x.sh'],
  };
  const BOTH = Object.values(KINDS).flat();
  const HARMLESS = ['.editorconfig', 'sub/.mailmap', '.changeset/some-change.md', 'src/a.txt', 'README.md', 'LICENSE'];
  attack(
    'AX122: each kind of what runs later is named, edited as well as new',
    async (fixture) => {
      const script = 'for f do mkdir -p "$(dirname "$f")" && echo x >>"$f"; done';
      const told = async () =>
        Object.fromEntries(
          (await fixture.open().plan({ sandbox: 'a', integration: 'merge' })).risky.map((one) => [
            one.path,
            one.reasons,
          ]),
        );
      const sandbox = await fixture.open().create({ name: 'a' });
      await fixture.run(sandbox, ['sh', '-c', script, 'sh', ...BOTH, ...HARMLESS]);
      const edited = await told();
      expect(Object.keys(edited).toSorted()).toEqual(BOTH.toSorted());
      for (const [reason, paths] of Object.entries(KINDS))
        for (const path of paths)
          expect({ path, reasons: edited[path] }).toEqual({ path, reasons: expect.arrayContaining([reason]) });

      // The same as new ones.
      await fixture.run(sandbox, [
        'sh',
        '-c',
        'git checkout -q . 2>/dev/null; mkdir new && cd new && ' + script,
        'sh',
        ...BOTH,
        ...HARMLESS,
      ]);
      const added = await told();
      for (const [reason, paths] of Object.entries(KINDS))
        for (const path of paths) {
          const at = `new/${path}`;
          const isAtTheTop = /^(NEWAGENT\.md|build\.zsh)$/.test(path);
          const wanted = reason.includes('hidden') ? reason.replace(/^(is|lies in) a /, '$1 a new ') : reason;
          expect({ at, reasons: added[at] }).toEqual({
            at,
            reasons: isAtTheTop ? undefined : expect.arrayContaining([wanted]),
          });
        }
      for (const path of HARMLESS)
        expect({ path, reasons: added[`new/${path}`] }).toEqual({ path, reasons: undefined });
      expect(commandLine(fixture, ['merge', 'a'])).toMatchObject({ code: 4 });
    },
    Object.fromEntries([...BOTH, ...HARMLESS].map((path) => [path, 'x\n'])),
  );

  attack('AX123: what is most dangerous is read first, whatever else an agent makes', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    const script =
      'mkdir -p .aaa/notes pkg && for n in $(seq 400); do echo x >.aaa/notes/$n; mkdir pkg/$n; echo x >pkg/$n/Makefile; done; echo x >.envrc';
    await fixture.run(sandbox, script);
    const { code, stderr } = commandLine(fixture, ['merge', 'a']);
    expect(code).toBe(4);
    const list = stderr.slice(stderr.indexOf('Can run code')).split('\n');
    expect(list.slice(1, 3).map((line) => line.trim())).toEqual([
      'is loaded by the shell or a version manager on entering the directory:',
      expect.stringContaining('.envrc'),
    ]);
    expect(list.map((line) => line.trim())).toContain('.aaa/notes/ (400 files)');
    expect(list.length).toBeLessThan(60);
    expect(stderr).toContain('all: litterbox merge a --dry-run --json');
    expect(stderr).toMatch(/801 files of a can run code, or hide what they hold: \.envrc, /);
    const all = JSON.parse(commandLine(fixture, ['merge', 'a', '--dry-run', '--json']).stdout) as {
      risky: readonly object[];
    };
    expect(all.risky).toHaveLength(801);
  });
});
