/**
 * @typedef {object} Project One program by others, built and tested outside and inside.
 * @property {string} name
 * @property {string} what what runs, for the page
 * @property {{ debian: string } | { npm: string } | { files: Readonly<Record<string, string>> }} source
 * @property {readonly string[]} [debs] Debian packages that are unpacked into `vendored` of the tree: what the machine lacks
 * @property {Readonly<Record<string, string>>} [npm] packages that are installed into `node_modules` of the tree, by a registry, outside
 * @property {string} [prepare] shell text, once, outside, before the tree is committed
 * @property {readonly string[]} [path] directories put before PATH, below the directory of tools, in both places
 * @property {string} run shell text, in the tree, in both places
 * @property {(log: string) => { passed: number, failed: number }} count what the log says of tests
 * @property {string} [explained] why inside differs from outside, where it may
 */

const sum = (log, pattern) => [...log.matchAll(pattern)].reduce((total, [, number]) => total + Number(number), 0);
/** Lines of the form `# PASS:  4`, `1234 passed`. */
const counting = (passed, failed) => (log) => ({ passed: sum(log, passed), failed: sum(log, failed) });
/** Programs without tests of their own: each line `ok NAME` is one. */
const LINES = (log) => ({ passed: log.match(/^ok /gm)?.length ?? 0, failed: log.match(/^not ok /gm)?.length ?? 0 });
const AUTOTOOLS = counting(/^# PASS: +(\d+)/gm, /^# (?:FAIL|ERROR): +(\d+)/gm);
const PYTEST = counting(/(\d+) passed/g, /(\d+) (?:failed|errors?)\b/g);
const NODE_TEST = counting(/^[#ℹ] pass (\d+)/gm, /^[#ℹ] fail (\d+)/gm);
const VITEST = counting(/Tests .*?(\d+) passed/g, /Tests .*?(\d+) failed/g);

const PYTEST_DEBS = [
  'pytest',
  'pytest-xdist',
  'execnet',
  'pluggy',
  'iniconfig',
  'packaging',
  'attr',
  'py',
  'markupsafe',
].map((name) => `python3-${name}`);
const PYTHON = 'PYTHONPATH=$PWD/src:$PWD:$PWD/vendored/usr/lib/python3/dist-packages /usr/bin/python3 -B -m pytest -q';
const EVENT = ['libevent-dev', 'libevent-2.1-7'];
/** Linked into the program: what is unpacked is nowhere that a program looks at its start. */
const STATIC_EVENT = 'rm -f vendored/usr/lib/*/libevent*.so*';
const LIBEVENT = 'L=$(echo $PWD/vendored/usr/lib/*/libevent.a) D=$PWD/vendored/usr/include';
const QUIET = '>build.log 2>&1 || { tail -n 20 build.log; exit 1; }';

/** @type {readonly (Project & { part: string })[]} */
export const PROJECTS = [
  {
    name: 'GNU hello',
    part: 'small',
    what: 'configure, make, make check (C, autotools)',
    source: { debian: 'hello' },
    run: `{ ./configure && make -j2; } ${QUIET}; make check`,
    count: AUTOTOOLS,
  },
  {
    name: 'ninja',
    part: 'small',
    what: 'cmake, build, the program (C++)',
    source: { debian: 'ninja-build' },
    run: `{ cmake -S . -B out -G Ninja -DBUILD_TESTING=OFF && ninja -C out; } ${QUIET}; out/ninja --version && echo ok version`,
    count: LINES,
  },
  {
    name: 'lua',
    part: 'small',
    what: 'make linux, a program (C)',
    source: { debian: 'lua5.4' },
    run: `make -j2 -C src linux ${QUIET}; src/lua -e 'assert(load("return 6*7")() == 42) print("ok lua")'`,
    count: LINES,
  },
  {
    name: 'zlib',
    part: 'small',
    what: 'configure, make test (C)',
    source: { debian: 'zlib' },
    run: `{ ./configure && make -j2; } ${QUIET}; make test && echo ok make test`,
    count: LINES,
  },
  {
    name: 'jq',
    part: 'small',
    what: 'compiled by hand, its file of 321 programs (C)',
    source: { debian: 'jq' },
    run: `echo '#define JQ_VERSION "1.6"' >src/version.h
sed -e 's/\\\\/\\\\\\\\/g' -e 's/"/\\\\"/g' -e 's/^/"/' -e 's/$/\\\\n"/' src/builtin.jq >src/builtin.inc
math=$(sed -n 's/^AC_CHECK_MATH_FUNC(\\([a-z0-9_]*\\)).*/-DHAVE_\\U\\1/p' configure.ac | grep -v POW10)
gcc -O1 -w -D_GNU_SOURCE -DIEEE_8087 -DHAVE_MEMMEM -DHAVE_ISATTY -DHAVE_TIMEGM -DHAVE_GMTIME_R -DHAVE_LOCALTIME_R -DHAVE_GMTIME -DHAVE_STRPTIME -DHAVE_STRFTIME -DHAVE_MKTIME -DHAVE_GETTIMEOFDAY -DHAVE_SETLOCALE $math -Isrc -I. -o jq $(ls src/*.c | grep -v 'src/inject_errors.c') -lm -lpthread ${QUIET}
./jq -L tests/modules --run-tests tests/jq.test`,
    count: (log) => {
      const [, passed = 0, total = 0] = /(\d+) of (\d+) tests passed/.exec(log) ?? [];
      return { passed: Number(passed), failed: Number(total) - Number(passed) };
    },
  },
  {
    name: 'memcached',
    part: 'small',
    what: 'configure, make, five files of its tests by prove (C, Perl)',
    source: { debian: 'memcached' },
    debs: EVENT,
    prepare: STATIC_EVENT,
    run: `${LIBEVENT}; { CPPFLAGS="-I$D" LDFLAGS="-L\${L%/*}" ./configure --disable-docs && make -j2 memcached memcached-debug sizes testapp timedrun; } ${QUIET}
prove t/cas.t t/incrdecr.t t/unixsocket.t t/flags.t t/expirations.t -v`,
    count: (log) => ({ passed: log.match(/^ok \d+/gm)?.length ?? 0, failed: log.match(/^not ok \d+/gm)?.length ?? 0 }),
  },
  {
    name: 'tmux',
    part: 'small',
    what: 'configure, make, a session that runs a command (C, Unix sockets)',
    source: { debian: 'tmux' },
    debs: [...EVENT, 'byacc'],
    prepare: STATIC_EVENT,
    run: `${LIBEVENT}; { YACC="$PWD/vendored/usr/bin/byacc" LIBEVENT_CFLAGS="-I$D" LIBEVENT_LIBS="$L" LIBEVENT_CORE_CFLAGS="-I$D" LIBEVENT_CORE_LIBS="$L" ./configure && make -j2; } ${QUIET}
export TMUX_TMPDIR=$(mktemp -d) TERM=xterm; ./tmux -f /dev/null new-session -d 'echo inside >said; ./tmux wait-for -S said' && ./tmux wait-for said; cat said && echo ok session; ./tmux kill-server; true`,
    count: LINES,
  },
  {
    name: 'cobra',
    part: 'small',
    what: 'go test . ./doc, its caches cold (Go)',
    source: { debian: 'golang-github-spf13-cobra' },
    debs: [
      'golang-1.19-go',
      'golang-1.19-src',
      'golang-github-spf13-pflag-dev',
      'golang-github-cpuguy83-go-md2man-v2-dev',
      'golang-github-russross-blackfriday-v2-dev',
      'golang-gopkg-yaml.v3-dev',
      'golang-github-inconshreveable-mousetrap-dev',
    ],
    run: `export GOROOT=$PWD/vendored/usr/lib/go-1.19 GOPATH=$PWD/vendored/usr/share/gocode GO111MODULE=off GOFLAGS=
d=$GOPATH/src/github.com/spf13/cobra; mkdir -p $d && cp -r *.go doc $d && cd $d && $GOROOT/bin/go test -v . ./doc`,
    count: (log) => ({ passed: log.match(/^--- PASS/gm)?.length ?? 0, failed: log.match(/^--- FAIL/gm)?.length ?? 0 }),
    explained:
      'outside it runs as root, who can read the file of a test that wants to be refused; inside no program is root',
  },
  {
    name: 'cargo hello',
    part: 'small',
    what: 'cargo test of a new crate (Rust by rustup)',
    source: {
      files: {
        'Cargo.toml': '[package]\nname = "hi"\nversion = "0.1.0"\nedition = "2021"\n',
        'src/lib.rs':
          'pub fn twice(x: u32) -> u32 { x * 2 }\n#[test]\nfn doubles() { assert_eq!(twice(21), 42) }\n#[test]\nfn nothing() { assert_eq!(twice(0), 0) }\n',
      },
    },
    path: ['~/.cargo/bin'],
    run: 'cargo test --offline --lib',
    count: counting(/test result: .*?(\d+) passed/g, /test result: .*?(\d+) failed/g),
  },
  {
    name: 'Maven',
    part: 'small',
    what: 'mvn -o validate, of a Maven that was unpacked outside of the system (Java)',
    source: {
      files: {
        'pom.xml':
          '<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>\n',
      },
    },
    path: ['maven/bin'],
    run: 'mvn -o -B validate',
    count: (log) => ({
      passed: log.match(/BUILD SUCCESS/g)?.length ?? 0,
      failed: log.match(/BUILD FAILURE|FATAL/g)?.length ?? 0,
    }),
  },
  {
    name: 'jinja2',
    part: 'small',
    what: 'its tests by pytest -n 2 (Python, xdist)',
    source: { debian: 'jinja2' },
    debs: PYTEST_DEBS,
    run: `${PYTHON} -n 2 -p no:cacheprovider tests`,
    count: PYTEST,
  },
  {
    name: 'toolz',
    part: 'small',
    what: 'its tests by pytest (Python)',
    source: { debian: 'toolz' },
    debs: PYTEST_DEBS,
    run: `${PYTHON} -p no:cacheprovider toolz`,
    count: PYTEST,
  },
  {
    name: 'a package of six tests',
    part: 'small',
    what: 'a Manager, an asyncio server on a Unix socket, pools, home, host name (Python)',
    source: {
      files: {
        'test_six.py': `import asyncio, multiprocessing as m, os, pathlib, socket, tempfile

def twice(x):
    return x * 2

def test_manager():
    assert list(m.Manager().list([1])) == [1]

def test_pool():
    with m.get_context('forkserver').Pool(2) as pool:
        assert pool.map(twice, [1, 2]) == [2, 4]

def test_unix_server():
    async def talk():
        path = os.path.join(tempfile.mkdtemp(), 's')
        async def serve(reader, writer):
            writer.write(await reader.readline())
            writer.close()
        async with await asyncio.start_unix_server(serve, path):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(b'hello\\n')
            assert await reader.readline() == b'hello\\n'
            writer.close()
    asyncio.run(talk())

def test_shared_memory():
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=100 << 20)
    block.buf[:3] = b'abc'
    block.close(); block.unlink()

def test_home():
    path = pathlib.Path.home() / 'litterbox-test-file'
    path.write_text('x'); path.unlink()

def test_host_name():
    assert socket.gethostbyname('localhost') == '127.0.0.1'
    assert socket.gethostname()
`,
      },
    },
    debs: PYTEST_DEBS,
    run: `${PYTHON} -p no:cacheprovider`,
    count: PYTEST,
  },
  {
    name: 'fastify',
    part: 'node',
    what: 'its tests that talk over ports and Unix sockets, by node --test (Node)',
    source: { npm: 'fastify@5.12.8' },
    npm: {
      fastify: '5.12.8',
      undici: '7',
      'simple-get': '4',
      split2: '4',
      '@sinclair/typebox': '0',
      proxyquire: '2',
      'form-data': '4',
    },
    run: 'node --test test/listen.*.test.js test/hooks.test.js test/inject.test.js test/route*.test.js test/reply-*.test.js test/logger/*.test.js',
    count: NODE_TEST,
  },
  {
    name: 'Next app',
    part: 'node',
    what: 'next build (Node)',
    source: {
      files: {
        'package.json': '{ "private": true, "scripts": { "build": "next build" } }\n',
        'app/layout.js':
          'export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html> }\n',
        'app/page.js': 'export default function Page() { return <h1>hello</h1> }\n',
        'next.config.mjs':
          'export default { turbopack: { root: import.meta.dirname }, outputFileTracingRoot: import.meta.dirname }\n',
      },
    },
    npm: { next: '16', react: '19', 'react-dom': '19' },
    run: 'NEXT_TELEMETRY_DISABLED=1 npm run build && echo ok build',
    count: LINES,
  },
  {
    name: 'pnpm and Turborepo',
    part: 'node',
    what: 'turbo run build test over two packages, tsc, vitest, tsx; pnpm from a prefix of npm (Node, Unix sockets)',
    source: {
      files: {
        'package.json': '{ "private": true, "packageManager": "pnpm@9.15.9", "workspaces": ["packages/*"] }\n',
        'pnpm-workspace.yaml': 'packages: ["packages/*"]\n',
        'turbo.json':
          '{ "tasks": { "build": { "outputs": ["dist/**"] }, "test": { "dependsOn": ["build"] } }, "daemon": false }\n',
        'packages/one/package.json':
          '{ "name": "one", "version": "1.0.0", "type": "module", "scripts": { "build": "tsc -p .", "test": "vitest run" } }\n',
        'packages/one/tsconfig.json':
          '{ "compilerOptions": { "outDir": "dist", "rootDir": "src", "module": "nodenext", "target": "es2022", "strict": true, "skipLibCheck": true, "types": [] }, "include": ["src"] }\n',
        'packages/one/src/one.ts': 'export const one = (): number => 1;\n',
        'packages/one/one.test.ts':
          "import { expect, test } from 'vitest';\nimport { one } from './src/one.ts';\ntest('one', () => expect(one()).toBe(1));\ntest('two', () => expect(one() + one()).toBe(2));\n",
        'packages/two/package.json':
          '{ "name": "two", "version": "1.0.0", "type": "module", "scripts": { "build": "tsx two.ts", "test": "tsx two.ts" } }\n',
        'packages/two/two.ts': "const text: string = 'ok tsx';\nconsole.log(text);\n",
        'pnpm-lock.yaml':
          "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n\n  packages/one: {}\n\n  packages/two: {}\n",
      },
    },
    npm: { turbo: '2', typescript: '5', vitest: '3', tsx: '4' },
    path: ['npm-prefix/bin'],
    run: 'pnpm --version && export TURBO_TELEMETRY_DISABLED=1 PATH=$PWD/node_modules/.bin:$PATH && turbo run build test --no-cache --ui=stream',
    count: VITEST,
  },
  {
    name: 'Vite app',
    part: 'node',
    what: 'vite build (Node)',
    source: {
      files: {
        'package.json': '{ "private": true, "type": "module" }\n',
        'index.html': '<!doctype html><script type="module" src="/main.js"></script>\n',
        'main.js': "import { two } from './two.js';\ndocument.title = String(two);\n",
        'two.js': 'export const two = 2;\n',
      },
    },
    npm: { vite: '7' },
    run: 'node_modules/.bin/vite build && test -s dist/index.html && echo ok build',
    count: LINES,
  },
  {
    name: 'redis',
    part: 'redis',
    what: 'make, four suites of runtest (C, Tcl, Unix sockets)',
    source: { debian: 'redis' },
    run: `make -j2 MALLOC=libc BUILD_TLS=no OPTIMIZATION=-O1 ${QUIET}; ./runtest --clients 2 --single unit/expire --single unit/type/hash --single unit/type/list-3 --single unit/auth`,
    count: (log) => ({
      passed: log.match(/\[ok\]/g)?.length ?? 0,
      failed: log.match(/\[(?:err|exception)\]/g)?.length ?? 0,
    }),
  },
  {
    name: 'git',
    part: 'git',
    what: 'make -O0, eleven scripts of t/ (C, shell, Unix sockets)',
    source: { debian: 'git' },
    run: `make -j2 CFLAGS='-O0 -w' NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 NO_TCLTK=1 NO_PYTHON=1 ${QUIET}
cd t && for s in t0000-basic t0001-init t0021-conversion t0301-credential-cache t1300-config t2000-conflict-when-checking-files-out t3200-branch t3903-stash t4001-diff-rename t6012-rev-list-simplify t7508-status; do echo "== $s"; sh ./$s.sh; done`,
    count: (log) => ({
      passed: log.match(/^ok \d+/gm)?.length ?? 0,
      failed: log.match(/^not ok \d+(?!.*# TODO)/gm)?.length ?? 0,
    }),
  },
];
