import { foldedPath } from '../text/folded-path.ts';
import { NameSet } from './name-set.ts';

/** Files that programs find by their names. In names, `*` stands for any characters of one name. */
interface KnownFiles {
  /** What programs do with them; said to a person behind the path. */
  readonly reason: string;
  /** Every file below such a directory, at any depth. */
  readonly directories?: string;
  readonly names?: string;
  /** A name and the directory that it lies in, at any depth. */
  readonly paths?: string;
  /** Names at the top of a repository alone. */
  readonly top?: string;
  /** By the form of the path, as it is written. */
  readonly is?: (path: string) => boolean;
  /** They read documents too: a name whose form leaves the ending open is then one of theirs as a document. */
  readonly areDocumentsRead?: true;
  /** Names too; package managers and build tools read these while they set a tree up. */
  readonly inputs?: string;
}

const lastName = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** What people write for each other, in capitals, with or without an ending. */
const PAGES = new NameSet(
  `readme* changelog* changes* history* news* license* licence* copying* copyright* notice* patents* authors* contributors* contributing*
maintainers* credits* thanks* governance* code_of_conduct* security* support* todo* roadmap* upgrading* migrating* migration* releasing* releases*
faq* install* version* architecture* design* adopters*`.split(/\s+/),
);

/**
 * Names in capitals that no program runs anything for: who reviews what, devices of Windows, which no program can have a file called by, and
 * what git looks for beside other files alone ({@link https://git-scm.com/docs/gitrepository-layout}).
 */
const INERT = new NameSet('codeowners owners owners_aliases con prn aux nul head'.split(' '));

/** No build tool reads these without being told; what reads CoffeeScript takes `x.coffee.md` for a program. */
const DOCUMENT = /(?<!\.coffee)\.(md|markdown|rst|adoc|asciidoc)$/;

/**
 * The one table of files that run later, or steer what runs, on the machine of whoever has them: when a folder is opened, a shell enters
 * it, an agent starts, a package is installed, or the usual command of a project is called. A row for each kind, the one that takes the
 * least of a person first, below documents that say so of some of its tools. In lower case.
 */
const TABLE: readonly KnownFiles[] = [
  // https://code.visualstudio.com/docs/editing/workspaces/workspace-trust https://neovim.io/doc/user/options.html#'exrc'
  // https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html https://rust-analyzer.github.io/book/configuration.html
  {
    reason: 'runs when a folder is opened in an editor',
    directories: `.vscode .idea .fleet .zed .bsp .helix .vim .nvim .run .theia .vs .settings nbproject .metals .bloop .warp`,
    names: `*.code-workspace *.sublime-project *.sublime-workspace *.sublime-build .vimspector.json rust-analyzer.toml launchsettings.json .vimrc .nvimrc .exrc .nvim.lua .lvimrc .vimrc.* .local.vimrc .ideavimrc
.dir-locals*.el .projectile .ycm_extra_conf.py .project .classpath *.iml .gitpod.* .luarc.json* .neoconf.json
jsconfig.json tsconfig.json tsconfig.*.json tsconfig-*.json tslint.json .clangd compile_flags.txt compile_commands.json *.xcworkspacedata
*.pbxproj *.xcscheme hie.yaml session.vim omnisharp.json`,
  },
  // https://direnv.net/man/direnv.1.html https://mise.jdx.dev/configuration.html https://shopify.github.io/shadowenv/
  {
    reason: 'is loaded by the shell or a version manager on entering the directory',
    directories:
      '.mise .config/mise mise-tasks .mise-tasks .asdf .devbox .devenv .flox .jj .direnv .proto .shadowenv.d .bin .local/bin',
    names: `.envrc .prototools .ocamlinit .env .env.* .env-* .tool-versions .rvmrc .ruby-gemset .java-version .go-version .sdkmanrc .terraform-version .crystal-version
.rprofile .renviron .ghci .ghcid .pdbrc* .octaverc .irbrc .pryrc .iex.exs .jline *.ps1xml .inputrc .bashrc .bash_profile .bash_aliases .zshrc
.zshenv .zprofile .profile .login .tmux.conf .screenrc .autoenv* .in .out .kshrc devbox.json devenv.* .perltidyrc .perlcriticrc
.proverc`,
    paths: 'mise/config.toml mise/config.*.toml',
    inputs:
      '.nvmrc .node-version .python-version .ruby-version .tool-versions mise.toml .mise.toml mise.*.toml .mise.*.toml mise.lock',
  },
  // https://agents.md https://code.claude.com/docs/en/memory https://cursor.com/docs/context/rules https://aider.chat/docs/usage/conventions.html
  {
    reason: 'instructs or configures coding agents',
    areDocumentsRead: true,
    directories: `.cursor .claude .claude-plugin .codex .gemini .opencode .windsurf .roo .roo-* .cline* .aider* .kiro .junie .amazonq .qwen
.continue .augment* .trae .agents .agent .openhands .crush .goose .factory .kilocode .kilo .zencoder .tabnine .copilot .amp .devin .forge .iflow
.rovodev .pi .mcp .ai .qodo .grok .codebuddy .antigravity .vibe .sourcegraph .specify .idx memory-bank`,
    names: `mcp.json .mcp.json *.mcp.json claude.md claude.*.md agents.md agents.*.md agent.md gemini.md gemini.*.md jules.md bugbot.md knowledge.md
*.knowledge.md codebuff.json qwen.md warp.md crush.md
skill.md replit.md grok.md codebuddy.md conventions.md prompt.md .airules airules.md copilot-instructions.md *.instructions.md *.prompt.md *.chatmode.md *.mdc llms*.txt opencode.json* crush.json
.crush.json .rules .cursorrules .cursorignore .windsurfrules .clinerules* .roorules* .roomodes .goosehints .augment-guidelines
.rooignore .aiexclude gemini-extension.json .aider* .mentat* .sweep.y* .coderabbit.y* amp.json codex.json codex.toml`,
    // Agents are told to read such a page before they begin: by convention, or by their own instructions.
    is: (path) => /^[A-Z][A-Z0-9_-]*\.md$/.test(path) && !PAGES.has(path.toLowerCase()),
  },
  // https://git-scm.com/docs/githooks https://pre-commit.com https://lefthook.dev https://typicode.github.io/husky
  {
    reason: 'defines hooks that git runs',
    directories: '.githooks .git-hooks githooks git-hooks hooks .husky .hg .lefthook .config/husky',
    names: `.pre-commit-config.y* .pre-commit-hooks.y* lefthook.* lefthook-local.* .lefthook.* .lefthook-local.* .overcommit.yml
captainhook.json prek.toml hk.pkl rusty-hook.toml .rusty-hook.toml simple-git-hooks.* .simple-git-hooks.* commitlint.* .commitlintrc*`,
  },
  // https://git-scm.com/docs/gitattributes https://git-scm.com/docs/gitmodules
  {
    reason: 'changes how git treats files',
    names: '.gitattributes .gitconfig .lfsconfig .git-blame-ignore-revs',
    inputs: '.gitignore .gitmodules',
  },
  // https://www.gnu.org/software/make/manual/html_node/Makefile-Names.html https://vite.dev/config https://docs.gradle.org/current/userguide/build_file_basics.html
  // https://bazel.build/concepts/build-files https://v2.tauri.app/reference/config https://learn.microsoft.com/visualstudio/msbuild/msbuild-project-file-schema-reference
  {
    reason: 'runs when the project is built',
    directories:
      '.storybook .cargo .mvn project/src/main/scala gradle gradle/wrapper buildsrc build-logic tuist .gradle .bazel .buck .moon .nx .turbo .config/nextest',
    names: `makefile makefile.* gnumakefile *.mk *.mak justfile .justfile *.just taskfile* build.rs gradlew* *.gradle *.gradle.kts *.gradle.dcl pom.xml
*.pom mvnw* build.xml ivy.xml rakefile *.rake dangerfile* cmakelists.txt cmakepresets.json cmakeuserpresets.json *.cmake meson.build
meson_options.txt meson.options build.zig build.zig.zon magefile* dune dune-project dune-workspace *.ninja configure configure.ac autogen.sh
bootstrap.sh *.bzl *.bazelrc .bazelrc workspace workspace.bazel module.bazel build.bazel build buck .buckconfig* pants.toml pants.* please.build
.plzconfig* *.nix nx.json project.json turbo.json* lerna.json rush.json .npmpackagejsonlint* *.config.* *-config.*
*.conf.js *.conf.cjs *.conf.mjs *.conf.ts *.conf.json *.setup.js *.setup.cjs *.setup.mjs *.setup.ts *.workspace.js
*.workspace.ts *-preset.js *-preset.cjs jest.* jest-* vite.* vite-* vitest.* vitest-* webpack* rollup* babel.* babel-* eslint* prettier* postcss*
tailwind* next.* nuxt.* svelte.* astro.* playwright* karma* gulpfile* gruntfile* metro.* lint-staged* esbuild* tsup.* rspack* biome.json* rome.json
.mocharc* .babelrc* .eslintrc* .prettierrc* .stylelintrc* .lintstagedrc* .swcrc* .parcelrc* .postcssrc* .nycrc* .czrc .releaserc* .xo-config*
.remarkrc* .browserslistrc .jshintrc .jscsrc .yo-rc.json angular.json .angular-cli.json ember-cli-build.js testem.* cypress.* nightwatch.*
wdio.* .testcaferc* hardhat.* truffle* foundry.toml remappings.txt brownie-config.* ape-config.* .solhint* *.*proj
*.sln *.slnx *.props *.targets *.proj .csi *.csx directory.build.* .rubocop* .rspec* .simplecov spec_helper.rb rails_helper.rb config.ru capfile
guardfile fastfile appfile matchfile *.podspec *.sbt build.sc build.mill mill .scalafix.conf .scalafmt.conf phpunit* phpstan* psalm.xml* rector.php ecs.php
.php-cs-fixer* .php_cs* artisan grumphp.y* infection.json* clippy.toml .clippy.toml rustfmt.toml .rustfmt.toml cross.toml *.clang-tidy
.clang-tidy .golangci* .goreleaser* .air.toml buf.*y* book.toml mkdocs.y* _config.yml hugo.toml antora* docusaurus* .eleventy* .eleventy.js *.xcconfig
credo.exs .credo.exs .formatter.exs tidelift.y* testng.xml detekt.y* checkstyle.xml *.ktlint ktlint* mage.go .nodemon* nodemon.json .watchmanconfig
.watchman* procfile* ansible.cfg *.playbook.y* *.rsp xmake.lua tupfile* tuprules.tup *.do *_build.py gatsby-*.js gatsby-*.ts config-overrides.js package-scripts.* cucumber.* wallaby.* plopfile* jakefile*
typedoc.* knip.* sanity.cli.* wrangler.* firebase.json eas.json electron-builder.* nest-cli.json configure.in aclocal.m4 premake*.lua scsub bacon.toml
trunk.toml anchor.toml cog.toml *.cake build.ps1 build.cmd build.bat *.runsettings *.tt robofile.php castor.php _targets.r _quarto.yml makevars*
snapcraft.y* *.spec phpcs.* appraisals *.thor .bazelversion .jvmopts .sbtopts .user.ini .size-limit.js .markdownlint* .release-it.* .vscode-test.*`,
    top: 'build.* codegen.* deploy.* release.toml',
    // Of a program that reads a file of its own: BUILD, DEPS, Brewfile, Thorfile. New ones come in every directory, so that data of such a
    // name is listed too: nothing but the name tells them apart.
    is: (path) => {
      const name = lastName(path);
      const isOfProgram = /^([A-Z][A-Z0-9_-]+|[A-Z][A-Za-z]*file)$/.test(name);
      return isOfProgram && ![PAGES, INERT].some((names) => names.has(name.toLowerCase()));
    },
    paths: 'tools/bazel debian/rules project/*.scala project/build.properties config/*.exs test/runtests.jl',
    inputs: `build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradle.lockfile buildscript-gradle.lockfile
verification-metadata.xml gradle-wrapper.properties libs.versions.toml pom.xml maven-wrapper.properties makefile gnumakefile justfile taskfile.yml
taskfile.yaml rakefile cmakelists.txt meson.build`,
  },
  // https://docs.python.org/3/library/site.html https://docs.pytest.org/en/stable/reference/customize.html https://docs.locust.io
  {
    reason: 'runs when Python, its tests or its tools start',
    names: `conftest.py sitecustomize.py usercustomize.py noxfile.py fabfile.py tasks.py manage.py conf.py gunicorn.conf.py dodo.py build.py pavement.py locustfile.py celeryconfig.py uwsgi.ini wsgi.py
asgi.py pytest.ini .pytest.ini pytest.toml *.pth mypy.ini .mypy.ini .pylintrc pylintrc pylintrc.toml .flake8 .coveragerc .isort.cfg ruff.toml .ruff.toml
.bandit pyrightconfig.json setup.cfg *.ipynb ipython_config.py jupyter_*.py .pydistutils.cfg hatch.toml scons* sconstruct sconscript snakefile* dvc.yaml
wscript zuliprc airflow.cfg dbt_project.yml __main__.py`,
  },
  // https://docs.npmjs.com/cli/using-npm/scripts https://pip.pypa.io/en/stable/reference/requirements-file-format https://docs.brew.sh/Brew-Bundle-and-Brewfile
  {
    reason: 'decides what runs or is fetched when packages are installed',
    directories: '.yarn .pnpm .bundle .cargo .mvn .bun .config/pip .pip paket-files',
    names: `.npmrc .yarnrc* .pnpmfile* .pnp.* *.lock *.lockb *-lock.json *-lock.yaml *-lock.yml gemfile* *.gemspec requirements*.txt
pnpm-workspace.y* rush.json bower.json .bowerrc .condarc environment.y* pip.conf .pypirc composer.* go.mod go.sum go.work* mix.exs poetry.toml brewfile* berksfile* puppetfile* mintfile* packages.config *.podspec *.gyp *.gypi extconf.rb
cartfile* *.nuspec *.rockspec *.opam opam *.cabal build.sbt project.clj deps.edn bb.edn shadow-cljs.edn info.rkt pixi.toml spack.yaml *.nimble
shard.yml dub.json dub.sdl project.toml manifest.toml elm.json purs.json spago.* haxelib.json cpanfile dist.ini makefile.pl build.pl *.app.src.script`,
    paths: 'renv/activate.r .config/dotnet-tools.json',
    inputs: `package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb bunfig.toml
deno.json deno.jsonc deno.lock .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs lerna.json cargo.toml cargo.lock rust-toolchain rust-toolchain.toml
pyproject.toml setup.py setup.cfg poetry.lock uv.lock uv.toml pdm.lock pipfile pipfile.lock environment.yml tox.ini
requirements*.txt requirements*.in constraints*.txt constraints*.in
gemfile gemfile.lock gems.rb gems.locked composer.json composer.lock go.mod go.sum go.work go.work.sum mix.exs mix.lock rebar.config rebar.config.script rebar.lock
packages.lock.json directory.packages.props global.json nuget.config paket.lock flake.nix flake.lock shell.nix default.nix
pubspec.yaml pubspec.lock package.swift package@swift-*.swift package.resolved podfile podfile.lock cabal.project cabal.project.freeze cabal.project.local setup.hs setup.lhs package.yaml stack.yaml stack.yaml.lock
conanfile.py conanfile.txt conan.lock vcpkg.json`,
  },
  // https://containers.dev/implementors/json_reference https://docs.docker.com/reference/dockerfile https://docs.ddev.com/en/stable/users/extend/custom-commands
  {
    reason: 'decides what containers and machines run',
    directories: '.devcontainer .ddev .gitpod .docker .terraform .vagrant .kube',
    names: `.devcontainer.json dockerfile* *.dockerfile containerfile* *.containerfile *compose*.yml *compose*.yaml vagrantfile* procfile* *.tf *.tfvars *.tf.json
*.hcl *.nomad tiltfile* skaffold.y* helmfile.y* chart.yaml kustomization.y* docker-bake.* .dockerignore fly.toml .lando.y* okteto.y* devfile.y* mprocs.y* render.yaml app.yaml serverless.*
sam.yaml template.yaml cdk.json pulumi.* *.pkr.hcl kubernetes.y* devspace.y* garden.y* werf.yaml packer.json cloud-init*  *.service *.desktop`,
  },
  // https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax https://docs.gitlab.com/ci/yaml
  {
    reason: 'runs in continuous integration',
    directories: `.github .gitlab .circleci .gitea .forgejo .buildkite .woodpecker .teamcity .azure-pipelines .azuredevops .semaphore .tekton .ci
.concourse .drone`,
    names: `.gitlab-ci* jenkinsfile* *.jenkinsfile azure-pipelines* .travis.yml bitbucket-pipelines.yml .drone.* .cirrus.* appveyor.yml .appveyor.yml
buildspec*.y* cloudbuild*.y* cloudbuild*.json .woodpecker.y* action.yml action.yaml codemagic.yaml bitrise.yml .readthedocs.y* renovate.json*
.renovaterc* dependabot.yml netlify.toml vercel.json wercker.yml screwdriver.yaml .scrutinizer.yml codefresh.yml earthfile dagger.json`,
  },
  // https://everything.curl.dev/cmdline/configfile https://github.com/BurntSushi/ripgrep/blob/master/GUIDE.md https://sourceware.org/gdb/current/onlinedocs/gdb.html/Startup.html
  {
    reason: 'configures a tool that runs on your machine',
    names: `.litterbox.toml .litterbox.*.toml .ripgreprc .curlrc .wgetrc .gdbinit .gdbinit.* .lldbinit .ackrc .agignore .screenrc .netrc .psqlrc
.sqliterc .my.cnf .dbshell .mongorc.js .mongoshrc.js .gnuplot .latexmkrc latexmkrc .indent.pro .ctags .ctags.d .gtkwaverc .octave* .jupyter .ipython
.procmailrc .mailcap .lesskey .xinitrc .ssh config.fish .*rc .*rc.* nextflow.config`,
  },
];

interface Matcher {
  readonly reason: string;
  readonly directories: NameSet;
  /** Of more than one name. */
  readonly places: readonly string[];
  readonly names: NameSet;
  /** Forms of names whose ending is open, so that a document may have one and is not meant. */
  readonly open: NameSet;
  /** Of a directory and a name. */
  readonly paths: NameSet;
  readonly top: NameSet;
  readonly is: (path: string) => boolean;
}

const words = (text = '') => text.split(/\s+/).filter(Boolean).map(foldedPath);

const MATCHERS: readonly Matcher[] = TABLE.map(
  ({ reason, directories, names, inputs, paths, top, is = () => false, areDocumentsRead = false }) => {
    const isOpen = (word: string) => !areDocumentsRead && word.endsWith('*');
    const all = [...words(names), ...words(inputs)];
    return {
      reason,
      is,
      top: new NameSet(words(top)),
      directories: new NameSet(words(directories).filter((word) => !word.includes('/'))),
      places: words(directories).filter((word) => word.includes('/')),
      names: new NameSet(all.filter((word) => !isOpen(word))),
      open: new NameSet(all.filter(isOpen)),
      paths: new NameSet(words(paths)),
    };
  },
);
const INPUTS = new NameSet(TABLE.flatMap(({ inputs }) => words(inputs)));

/**
 * Why a file of this path runs later, or steers what runs, on the machine of whoever has it. By its names alone, as file systems that
 * fold names take them; empty for what no program is known to look for.
 */
export function whatRunsLater(path: string): readonly string[] {
  const folded = foldedPath(path);
  const parts = folded.split('/');
  const name = parts.at(-1) ?? '';
  const ending = parts.slice(-2).join('/');
  return MATCHERS.filter(
    ({ directories, places, names, open, paths, top, is }) =>
      names.has(name) ||
      (open.has(name) && !DOCUMENT.test(name)) ||
      paths.has(ending) ||
      (parts.length === 1 && top.has(name) && !DOCUMENT.test(name)) ||
      is(path) ||
      parts.some((part) => directories.has(part)) ||
      places.some((place) => `/${folded}/`.includes(`/${place}/`)),
  ).map(({ reason }) => reason);
}

/** Why files run later, that which takes the least of a person first. */
export const LATER_REASONS: readonly string[] = TABLE.map(({ reason }) => reason);

/**
 * Whether package managers and build tools read a file of this name without being told: lock files, and the manifests and settings
 * beside them.
 *
 * @param name the last part of a path
 */
export function isReadBySetups(name: string): boolean {
  return INPUTS.has(foldedPath(name));
}
