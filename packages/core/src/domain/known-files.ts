import { foldedPath } from './folded-path.ts';
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
  /** Names too; package managers and build tools read these while they set a tree up. */
  readonly inputs?: string;
}

/**
 * The one table of files that run later, or steer what runs, on the machine of whoever has them: when a folder is opened, a shell enters
 * it, an agent starts, a package is installed, or the usual command of a project is called. In lower case.
 */
const TABLE: readonly KnownFiles[] = [
  {
    reason: 'changes how git treats files',
    names: '.gitattributes .gitconfig .lfsconfig .git-blame-ignore-revs',
    inputs: '.gitignore .gitmodules',
  },
  {
    reason: 'defines hooks that git runs',
    directories: '.githooks .git-hooks githooks git-hooks hooks .husky .hg',
    names: `.pre-commit-config.y* .pre-commit-hooks.y* lefthook.* lefthook-local.* .lefthook.* .lefthook-local.* .overcommit.yml
simple-git-hooks.* .simple-git-hooks.* commitlint.* .commitlintrc*`,
  },
  {
    reason: 'runs when a folder is opened in an editor',
    directories: `.vscode .idea .fleet .zed .bsp .helix .vim .nvim .run .theia .vs .settings nbproject .metals .bloop`,
    names: `*.code-workspace *.sublime-project *.sublime-workspace .vimrc .nvimrc .exrc .nvim.lua .lvimrc .vimrc.* .local.vimrc .ideavimrc
.dir-locals*.el .projectile .ycm_extra_conf.py .project .classpath *.iml .gitpod.* .luarc.json* .neoconf.json
jsconfig.json tsconfig.json tsconfig.*.json tsconfig-*.json tslint.json .clangd compile_flags.txt compile_commands.json *.xcworkspacedata
*.pbxproj *.xcscheme hie.yaml session.vim omnisharp.json`,
  },
  {
    reason: 'instructs or configures coding agents',
    directories: `.cursor .claude .claude-plugin .codex .gemini .opencode .windsurf .roo .roo-* .cline* .aider* .kiro .junie .amazonq .qwen
.continue .augment* .trae .agents .agent .openhands .crush .goose .factory .kilocode .kilo .zencoder .tabnine .copilot .amp .devin .forge .iflow
.rovodev .pi .mcp`,
    names: `mcp.json .mcp.json *.mcp.json claude.md claude.*.md agents.md agents.*.md agent.md gemini.md gemini.*.md jules.md bugbot.md knowledge.md
*.knowledge.md codebuff.json qwen.md warp.md crush.md
skill.md replit.md copilot-instructions.md *.instructions.md *.prompt.md *.chatmode.md *.mdc llms*.txt opencode.json* crush.json
.crush.json .rules .cursorrules .cursorignore .windsurfrules .clinerules* .roorules* .roomodes .goosehints .augment-guidelines
.rooignore .aiexclude gemini-extension.json .aider* .mentat* .sweep.y* .coderabbit.y* amp.json codex.json codex.toml`,
  },
  {
    reason: 'runs in continuous integration',
    directories: `.github .gitlab .circleci .gitea .forgejo .buildkite .woodpecker .teamcity .azure-pipelines .azuredevops .semaphore .tekton .ci
.concourse .drone`,
    names: `.gitlab-ci* jenkinsfile* *.jenkinsfile azure-pipelines* .travis.yml bitbucket-pipelines.yml .drone.* .cirrus.* appveyor.yml .appveyor.yml
buildspec*.y* cloudbuild*.y* cloudbuild*.json .woodpecker.y* action.yml action.yaml codemagic.yaml bitrise.yml .readthedocs.y* renovate.json*
.renovaterc* dependabot.yml netlify.toml vercel.json wercker.yml screwdriver.yaml .scrutinizer.yml codefresh.yml earthfile dagger.json`,
  },
  {
    reason: 'is loaded by the shell or a version manager on entering the directory',
    directories: '.mise .config/mise mise-tasks .mise-tasks .asdf .devbox .devenv .flox .jj .direnv',
    names: `.envrc .env .env.* .env-* .tool-versions .rvmrc .ruby-gemset .java-version .go-version .sdkmanrc .terraform-version .crystal-version
.rprofile .renviron .ghci .ghcid .pdbrc* .octaverc .irbrc .pryrc .iex.exs .jline *.ps1xml .inputrc .bashrc .bash_profile .bash_aliases .zshrc
.zshenv .zprofile .profile .login .tmux.conf .screenrc .autoenv* .in .out .kshrc devbox.json devenv.* .perltidyrc .perlcriticrc
.proverc`,
    inputs:
      '.nvmrc .node-version .python-version .ruby-version .tool-versions mise.toml .mise.toml mise.*.toml .mise.*.toml mise.lock',
  },
  {
    reason: 'decides what runs or is fetched when packages are installed',
    directories: '.yarn .pnpm .bundle .cargo .mvn .bun .config/pip .pip paket-files',
    names: `.npmrc .yarnrc* .pnpmfile* .pnp.* *.lock *.lockb *-lock.json *-lock.yaml *-lock.yml gemfile* *.gemspec requirements*.txt
pnpm-workspace.y* rush.json bower.json .bowerrc .condarc environment.y* pip.conf .pypirc composer.* go.mod go.sum go.work* mix.exs *.podspec
cartfile* *.nuspec *.rockspec *.opam opam *.cabal build.sbt project.clj deps.edn bb.edn shadow-cljs.edn info.rkt pixi.toml spack.yaml *.nimble
shard.yml dub.json dub.sdl project.toml manifest.toml elm.json purs.json spago.* haxelib.json cpanfile dist.ini makefile.pl build.pl *.app.src.script`,
    paths: 'renv/activate.r',
    inputs: `package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb bunfig.toml
deno.json deno.jsonc deno.lock .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs lerna.json cargo.toml cargo.lock rust-toolchain rust-toolchain.toml
pyproject.toml setup.py setup.cfg poetry.lock uv.lock uv.toml pdm.lock pipfile pipfile.lock environment.yml tox.ini
requirements*.txt requirements*.in constraints*.txt constraints*.in
gemfile gemfile.lock gems.rb gems.locked composer.json composer.lock go.mod go.sum go.work go.work.sum mix.exs mix.lock rebar.config rebar.config.script rebar.lock
packages.lock.json directory.packages.props global.json nuget.config paket.lock flake.nix flake.lock shell.nix default.nix
pubspec.yaml pubspec.lock package.swift package@swift-*.swift package.resolved podfile podfile.lock cabal.project cabal.project.freeze cabal.project.local setup.hs setup.lhs package.yaml stack.yaml stack.yaml.lock
conanfile.py conanfile.txt conan.lock vcpkg.json`,
  },
  {
    reason: 'runs when Python, its tests or its tools start',
    names: `conftest.py sitecustomize.py usercustomize.py noxfile.py fabfile.py tasks.py manage.py conf.py gunicorn.conf.py dodo.py wsgi.py
asgi.py pytest.ini .pytest.ini pytest.toml *.pth mypy.ini .mypy.ini .pylintrc pylintrc pylintrc.toml .flake8 .coveragerc .isort.cfg ruff.toml .ruff.toml
.bandit pyrightconfig.json setup.cfg *.ipynb ipython_config.py jupyter_*.py .pydistutils.cfg hatch.toml scons* sconstruct sconscript snakefile* dvc.yaml
wscript zuliprc airflow.cfg dbt_project.yml __main__.py`,
  },
  {
    reason: 'runs when the project is built',
    directories:
      '.storybook .cargo .mvn project/src/main/scala gradle gradle/wrapper buildsrc build-logic .gradle .bazel .buck .moon .nx .turbo .config/nextest',
    names: `makefile gnumakefile *.mk *.mak justfile .justfile *.just taskfile* build.rs gradlew* *.gradle *.gradle.kts *.gradle.dcl pom.xml
*.pom mvnw* build.xml ivy.xml rakefile *.rake dangerfile* cmakelists.txt cmakepresets.json cmakeuserpresets.json *.cmake meson.build
meson_options.txt meson.options build.zig build.zig.zon magefile* dune dune-project dune-workspace *.ninja configure configure.ac autogen.sh
bootstrap.sh *.bzl *.bazelrc .bazelrc workspace workspace.bazel module.bazel build.bazel build buck .buckconfig* pants.toml pants.* please.build
.plzconfig* *.nix nx.json project.json turbo.json* lerna.json rush.json .npmpackagejsonlint* *.config.js *.config.cjs *.config.mjs *.config.ts
*.config.cts *.config.mts *.config.json *.conf.js *.conf.cjs *.conf.mjs *.conf.ts *.setup.js *.setup.cjs *.setup.mjs *.setup.ts *.workspace.js
*.workspace.ts *-preset.js *-preset.cjs jest.* jest-* vite.* vite-* vitest.* vitest-* webpack* rollup* babel.* babel-* eslint* prettier* postcss*
tailwind* next.* nuxt.* svelte.* astro.* playwright* karma* gulpfile* gruntfile* metro.* lint-staged* esbuild* tsup.* rspack* biome.json* rome.json
.mocharc* .babelrc* .eslintrc* .prettierrc* .stylelintrc* .lintstagedrc* .swcrc* .parcelrc* .postcssrc* .nycrc* .czrc .releaserc* .xo-config*
.remarkrc* .browserslistrc .jshintrc .jscsrc .yo-rc.json angular.json .angular-cli.json ember-cli-build.js testem.* cypress.* nightwatch.*
wdio.* .testcaferc* hardhat.* truffle* foundry.toml remappings.txt brownie-config.* ape-config.* .solhint* *.csproj *.fsproj *.vbproj *.vcxproj
*.sln *.slnx *.props *.targets *.proj .csi *.csx directory.build.* .rubocop* .rspec* .simplecov spec_helper.rb rails_helper.rb config.ru capfile
guardfile fastfile appfile matchfile *.podspec *.sbt build.sc build.mill mill .scalafix.conf .scalafmt.conf phpunit* phpstan* psalm.xml* rector.php ecs.php
.php-cs-fixer* .php_cs* artisan grumphp.y* infection.json* clippy.toml .clippy.toml rustfmt.toml .rustfmt.toml cross.toml *.clang-tidy
.clang-tidy .golangci* .goreleaser* .air.toml buf.*y* book.toml mkdocs.y* _config.yml hugo.toml antora* docusaurus* .eleventy* .eleventy.js *.xcconfig
credo.exs .credo.exs .formatter.exs tidelift.y* testng.xml detekt.y* checkstyle.xml *.ktlint ktlint* mage.go .nodemon* nodemon.json .watchmanconfig
.watchman* procfile* ansible.cfg *.playbook.y* *.rsp xmake.lua tupfile* tuprules.tup *.do .markdownlint* .release-it.* .vscode-test.*`,
    paths: 'project/*.scala project/build.properties config/*.exs test/runtests.jl',
    inputs: `build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradle.lockfile buildscript-gradle.lockfile
verification-metadata.xml gradle-wrapper.properties libs.versions.toml pom.xml maven-wrapper.properties makefile gnumakefile justfile taskfile.yml
taskfile.yaml rakefile cmakelists.txt meson.build`,
  },
  {
    reason: 'decides what containers and machines run',
    directories: '.devcontainer .gitpod .docker .terraform .vagrant .kube',
    names: `.devcontainer.json dockerfile* *.dockerfile containerfile* *.containerfile *compose*.yml *compose*.yaml vagrantfile* procfile* *.tf *.tfvars *.tf.json
*.hcl *.nomad tiltfile* skaffold.y* helmfile.y* chart.yaml kustomization.y* docker-bake.* .dockerignore fly.toml render.yaml app.yaml serverless.*
sam.yaml template.yaml cdk.json pulumi.* *.pkr.hcl kubernetes.y* devspace.y* garden.y* werf.yaml packer.json cloud-init*  *.service *.desktop`,
  },
  {
    reason: 'configures a tool that runs on your machine',
    names: `.litterbox.toml .litterbox.*.toml .ripgreprc .curlrc .wgetrc .gdbinit .gdbinit.* .lldbinit .ackrc .agignore .screenrc .netrc .psqlrc
.sqliterc .my.cnf .dbshell .mongorc.js .mongoshrc.js .gnuplot .latexmkrc latexmkrc .indent.pro .ctags .ctags.d .gtkwaverc .octave* .jupyter .ipython
.procmailrc .mailcap .lesskey .xinitrc .ssh config.fish .*rc`,
  },
];

interface Matcher {
  readonly reason: string;
  readonly directories: NameSet;
  /** Of more than one name. */
  readonly places: readonly string[];
  readonly names: NameSet;
  /** Of a directory and a name. */
  readonly paths: NameSet;
}

const words = (text = '') => text.split(/\s+/).filter(Boolean).map(foldedPath);

const MATCHERS: readonly Matcher[] = TABLE.map(({ reason, directories, names, inputs, paths }) => ({
  reason,
  directories: new NameSet(words(directories).filter((word) => !word.includes('/'))),
  places: words(directories).filter((word) => word.includes('/')),
  names: new NameSet([...words(names), ...words(inputs)]),
  paths: new NameSet(words(paths)),
}));
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
    ({ directories, places, names, paths }) =>
      names.has(name) ||
      paths.has(ending) ||
      parts.some((part) => directories.has(part)) ||
      places.some((place) => `/${folded}/`.includes(`/${place}/`)),
  ).map(({ reason }) => reason);
}

/**
 * Whether package managers and build tools read a file of this name without being told: lock files, and the manifests and settings
 * beside them.
 *
 * @param name the last part of a path
 */
export function isReadBySetups(name: string): boolean {
  return INPUTS.has(foldedPath(name));
}
