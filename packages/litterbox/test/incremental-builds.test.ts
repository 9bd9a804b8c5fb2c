import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

/** One kind of build, with three sources that are built each by itself. */
interface Build {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** Paths that come along. */
  readonly include: readonly string[];
  /** Shell text, run outside and inside. */
  readonly command: string;
  /** Makes ready what no commit holds. */
  prepare?(root: string): void;
  /** The sources that were built, by what the build said. */
  built(said: string): readonly string[];
  /** The paths of the sources `a`, `b` and `c`, and another content for each. */
  readonly source: (name: string) => string;
  readonly edited: (name: string, number: number) => string;
}

const unique = (found: Iterable<string>) => [...new Set(found)].sort();
const namesIn = (said: string, pattern: RegExp) => unique([...said.matchAll(pattern)].map(([, name]) => name ?? ''));
const inC = {
  source: (name: string) => `${name}.c`,
  edited: (name: string, number: number) => `int ${name}${number};\n`,
};
const C_FILES = { 'a.c': 'int a;\n', 'b.c': 'int b;\n', 'c.c': 'int c;\n' };
const crate = (name: string) => ({
  [`${name}/Cargo.toml`]: `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n`,
  [`${name}/src/lib.rs`]: 'pub fn one() -> u8 { 1 }\n',
});
const project = (name: string) => ({
  [`${name}/tsconfig.json`]: '{ "compilerOptions": { "composite": true, "outDir": "out" }, "files": ["index.ts"] }\n',
  [`${name}/index.ts`]: 'export const one = 1;\n',
});

const javaProject = (name: string) => ({
  [`${name}/src/main/java/${name.toUpperCase()}.java`]: `class ${name.toUpperCase()} {}\n`,
});

const BUILDS: readonly Build[] = [
  {
    name: 'make',
    files: {
      ...C_FILES,
      '.gitignore': 'build/\n',
      Makefile:
        'all: build/a.o build/b.o build/c.o\nbuild/%.o: %.c\n\t@echo "built $<"; mkdir -p build; gcc -c -o $@ $<\n',
    },
    include: ['build'],
    command: 'make',
    built: (said) => namesIn(said, /^built (\w)\.c$/gm),
    ...inC,
  },
  {
    name: 'CMake',
    files: {
      ...C_FILES,
      '.gitignore': 'build/\n',
      'CMakeLists.txt': 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_library(p STATIC a.c b.c c.c)\n',
    },
    include: ['build/'],
    command: 'cmake -S . -B build -G "Unix Makefiles" && cmake --build build',
    built: (said) => namesIn(said, /Building C object .*\/(\w)\.c\.o/g),
    ...inC,
  },
  {
    name: 'Cargo',
    files: {
      ...crate('a'),
      ...crate('b'),
      ...crate('c'),
      '.gitignore': 'target/\n',
      'Cargo.toml': '[workspace]\nmembers = ["a", "b", "c"]\n',
    },
    include: ['target'],
    command: 'PATH=/usr/bin:/bin cargo build --offline 2>&1',
    built: (said) => namesIn(said, /Compiling (\w) v/g),
    source: (name) => `${name}/src/lib.rs`,
    edited: (name, number) => `pub fn ${name}() -> u8 { ${number} }\n`,
  },
  {
    name: 'tsc -b',
    files: {
      ...project('a'),
      ...project('b'),
      ...project('c'),
      '.gitignore': 'out/\n*.tsbuildinfo\nnode_modules/\n',
      'tsconfig.json': '{ "files": [], "references": [{ "path": "a" }, { "path": "b" }, { "path": "c" }] }\n',
    },
    // The compiler comes along too, and so does what runs it.
    include: ['a/out', 'b/out', 'c/out', 'node_modules'],
    command: 'node_modules/.bin/node node_modules/typescript/lib/tsc.js -b --verbose',
    prepare(root) {
      const { resolve } = createRequire(import.meta.url);
      for (const name of ['typescript', '@typescript/old'])
        cpSync(dirname(resolve(`${name}/package.json`)), join(root, 'node_modules', name), { recursive: true });
      mkdirSync(join(root, 'node_modules/.bin'));
      copyFileSync(realpathSync(process.execPath), join(root, 'node_modules/.bin/node'));
    },
    built: (said) => namesIn(said, /Building project '[^']*\/(\w)\/tsconfig\.json'/g),
    source: (name) => `${name}/index.ts`,
    edited: (name, number) => `export const ${name} = ${number};\n`,
  },
  {
    name: 'Gradle',
    files: {
      ...javaProject('a'),
      ...javaProject('b'),
      ...javaProject('c'),
      '.gitignore': 'build/\n.gradle/\n',
      'settings.gradle': "include 'a', 'b', 'c'\n",
      'build.gradle': "subprojects { apply plugin: 'java' }\n",
    },
    // What it knows of earlier builds is in `.gradle`.
    include: ['a/build', 'b/build', 'c/build', '.gradle'],
    // A daemon would outlive the build. A build that finds its own settings of memory in no running program starts one for itself alone, which ends with it.
    command: 'PATH=/usr/bin:/bin gradle --offline --no-daemon --console=plain classes 2>&1',
    built: (said) => namesIn(said, /^:(\w):compileJava$/gm),
    source: (name) => `${name}/src/main/java/${name.toUpperCase()}.java`,
    edited: (name, number) => `class ${name.toUpperCase()} { int number = ${number}; }\n`,
  },
];

function outside(fixture: LibraryFixture, { command, built }: Build): readonly string[] {
  const environment = { PATH: '/usr/bin:/bin', HOME: fixture.directory, LC_ALL: 'C.UTF-8' };
  return built(execFileSync('sh', ['-c', command], { cwd: fixture.repository, env: environment, encoding: 'utf8' }));
}

async function inside(sandbox: Sandbox, { command, built }: Build): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await sandbox.run(['sh', '-c', command], { timeoutMs: 300_000 });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return built(stdout);
}

// The machine's own tools, at the repository's own path: sandboxes of engines have neither.
const onThisMachine = PROVIDER === 'overlayfs' ? describe : describe.skip;
onThisMachine('builds go on where the person stopped', () => {
  it.each(BUILDS)(
    '$name',
    async (build) => {
      await using fixture = new LibraryFixture(build.files);
      const { source, edited } = build;
      build.prepare?.(fixture.repository);
      expect(outside(fixture, build)).toEqual(['a', 'b', 'c']);
      fixture.file(source('a'), edited('a', 2)); // built, not committed
      expect(outside(fixture, build)).toEqual(['a']);
      const include = [...build.include];
      const create = async (name: string, from: string) => await fixture.open().create({ name, from, include });

      const same = await create('same', 'worktree');
      expect(await inside(same, build)).toEqual([]);
      await same.files.write(source('b'), edited('b', 2), { message: 'edit' });
      expect(await inside(same, build)).toEqual(['b']);
      expect(await inside(same, build)).toEqual([]);
      expect((await fixture.open().changes('same')).map(({ path }) => path)).toEqual([source('b')]);

      // What was edited since the person built is built; and at HEAD, what was built is not what is there.
      fixture.file(source('c'), edited('c', 2));
      expect(await inside(await create('edited', 'worktree'), build)).toEqual(['c']);
      const committed = await create('committed', 'head');
      expect(await inside(committed, build)).toEqual(expect.arrayContaining(['a']));
      expect((await committed.run(['cat', source('a')])).stdout).toBe(build.files[source('a')]);
      expect(outside(fixture, build)).toEqual(['c']); // nothing of the person's was touched
    },
    600_000,
  );
});
