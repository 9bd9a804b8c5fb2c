import assert from 'node:assert/strict';
import {
  type DirectorySync,
  type Host,
  type HostDirectory,
  isLitterboxError,
  type LitterboxErrorCode,
  type SyncReport,
} from '@litterbox/core/provider';
import { type Collected, collected } from './collected.ts';
import { eventually } from './eventually.ts';
import type { TestRunner } from './runner.ts';

/** Two places to sync between. They may be on one machine, or the same host. */
export interface SyncPlaces {
  /** Existing directories that may be written to; emptied by nobody. Both hosts have `sh` and what Debian calls essential. */
  readonly source: HostDirectory;
  readonly target: HostDirectory;
}

/** What {@link describeDirectorySync} needs to know. */
export interface DirectorySyncOptions {
  readonly name: string;
  readonly runner: TestRunner;
  readonly open: () => Promise<DirectorySync>;
  readonly places: () => Promise<SyncPlaces>;
}

/** What a test gets. `source` exists and is empty, `target` does not exist; both are in directories that are removed at the end. */
interface SyncFixture {
  readonly sync: DirectorySync;
  readonly source: HostDirectory;
  readonly target: HostDirectory;
  /** The directory that a place is in: what is beside it is outside. */
  readonly beside: (place: HostDirectory) => string;
}

/** Files of every kind that is kept, with odd names. */
const MAKE = `echo plain >plain; echo '#!/bin/sh' >run; chmod 751 run; mkdir empty; mkdir -p deep/er; echo d >deep/er/file
ln -s plain link; ln -s nowhere dangling; ln -s /etc/passwd absolute; ln -s deep/er into; : >nothing; echo x >.hidden; chmod 600 .hidden
head -c 300000 /dev/zero | tr '\\0' x >large`;
const MADE = '.hidden absolute dangling deep deep/er deep/er/file empty into large link nothing plain run'.split(' ');

/** Names that would mean something to a shell, to an option parser, to a pattern or to who reads what is printed. */
const ODD_NAMES: readonly string[] = [
  '-rf',
  '--delete',
  '-e sh',
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned',
  "it's",
  '"',
  ' ',
  ' both ',
  '*',
  '[a]',
  '?',
  'back\\slash',
  '\\#012',
  'new\nline',
  '\n*deleting   plain',
  'host:path',
  '::module',
  '%n%i',
  'é',
  '\udcff\udc80',
  '~',
  'tab\t',
  '\u001b[2J',
  'x'.repeat(255),
];

/** All that a sync is to make equal: type, mode, name, target of a link, content. */
const LOOK = `cd "$1" && { find . -mindepth 1 \\( -type f -o -type d -o -type l \\) -exec stat -c '%A %N' {} + | LC_ALL=C sort
find . -type f -exec cksum {} + | LC_ALL=C sort; }`;

/** The contract of `DirectorySync`, executable. */
export function describeDirectorySync({ name, runner, open, places }: DirectorySyncOptions): void {
  const check = (title: string, body: (fixture: SyncFixture) => Promise<void>) =>
    runner.it(
      title,
      async () => {
        const { source, target } = await places();
        const id = crypto.randomUUID();
        const own = [source, target].map(({ host, path }, index) => ({ host, path: `${path}/kit-${id}-${index}` }));
        const [from, to] = own as [HostDirectory, HostDirectory];
        await from.host.files.makeDirectory(`${from.path}/tree`);
        await to.host.files.makeDirectory(to.path);
        try {
          await body({
            sync: await open(),
            source: { ...from, path: `${from.path}/tree` },
            target: { ...to, path: `${to.path}/tree` },
            beside: ({ path }) => path.slice(0, path.lastIndexOf('/')),
          });
        } finally {
          for (const { host, path } of own) await host.files.remove(path);
        }
      },
      60_000,
    );

  runner.describe(`DirectorySync contract: ${name}`, () => {
    check(
      'a target that is not there is made, equal in every kind of file, and told',
      async ({ sync, source, target }) => {
        await inside(source, MAKE);
        const deep = { ...target, path: `${target.path}/made/too` };
        const report = await sync.sync(source, deep);
        assert.equal(await look(deep), await look(source));
        assert.deepEqual(sorted(report), { changed: MADE, removed: [], changedCount: MADE.length, removedCount: 0 });
      },
    );

    check('a second call writes nothing and tells nothing', async ({ sync, source, target }) => {
      await inside(source, MAKE);
      await sync.sync(source, target);
      const stamps = 'find . -exec stat -c "%i %Z %n" {} + | LC_ALL=C sort';
      const before = await inside(target, stamps);
      assert.deepEqual(sorted(await sync.sync(source, target)), NOTHING);
      assert.equal(await inside(target, stamps), before);
    });

    check('content decides, not size and time; a mode and a link are brought too', async ({ sync, source, target }) => {
      await inside(source, `${MAKE}; for f in one two three; do echo $f >$f; touch -d @1000000000 $f; done`);
      await sync.sync(source, target);
      await inside(source, 'echo owt >two; touch -d @1000000000 two; chmod 700 plain; ln -sfn empty into; touch three');
      assert.deepEqual(sorted(await sync.sync(source, target)).changed, ['into', 'plain', 'two']);
      assert.equal(await look(target), await look(source));
      await inside(target, 'echo eno >one; touch -d @1000000000 one');
      assert.deepEqual(sorted(await sync.sync(source, target)).changed, ['one']);
      assert.equal(await inside(target, 'cat one'), 'one\n');
    });

    check('what the source does not have is removed and told, with all in it', async ({ sync, source, target }) => {
      await inside(source, MAKE);
      await sync.sync(source, target);
      await inside(source, 'rm -r deep plain link');
      await inside(target, 'mkdir -p more/and; echo x >more/and/file; ln -s /etc etc; mkfifo pipe');
      const { changed, removed } = sorted(await sync.sync(source, target));
      assert.deepEqual(changed, []);
      assert.deepEqual(
        removed.filter((path) => path !== 'pipe'),
        ['deep', 'deep/er', 'deep/er/file', 'etc', 'link', 'more', 'more/and', 'more/and/file', 'plain'],
      );
      assert.equal(await look(target), await look(source));
    });

    check('a path that becomes another type is that type', async ({ sync, source, target }) => {
      await inside(source, 'mkdir a; echo x >a/x; echo b >b; ln -s b c; mkdir d; echo e >e; ln -s a f');
      await sync.sync(source, target);
      await inside(
        source,
        'rm -r *; echo a >a; mkdir b; echo x >b/x; mkdir c; echo x >c/x; ln -s e d; ln -s a e; echo f >f',
      );
      await sync.sync(source, target);
      assert.equal(await look(target), await look(source));
    });

    check('no link of the target leads out of it', async ({ sync, source, target, beside }) => {
      await inside(source, 'mkdir dir; echo new >dir/file; echo new >file');
      const outside = `${beside(target)}/outside`;
      await target.host.files.makeDirectory(target.path);
      await inside(
        target,
        'mkdir ../outside; echo old >../outside/file; echo old >../outside/other; ln -s ../outside dir',
      );
      await inside(target, 'ln -s ../outside/file file; ln -s ../outside gone; ln -s ../outside/other gone-too');
      await sync.sync(source, target);
      assert.equal(await look(target), await look(source));
      assert.equal(await inside({ ...target, path: outside }, 'cat file other; ls'), 'old\nold\nfile\nother\n');
    });

    check('no link of the source is followed', async ({ sync, source, target }) => {
      await inside(
        source,
        'mkdir ../secret; echo secret >../secret/file; ln -s ../secret dir; ln -s ../secret/file file',
      );
      await sync.sync(source, target);
      assert.equal(
        await inside(target, 'readlink dir; readlink file; grep -r secret . || echo none'),
        '../secret\n../secret/file\nnone\n',
      );
    });

    check(
      'what is excluded is neither copied nor changed nor removed, and is no pattern',
      async ({ sync, source, target }) => {
        const make = (content: string) =>
          `mkdir -p keep 'dir[1]' dir1 sub/keep sub/out; for f in keep/file 'dir[1]/file' dir1/file sub/keep/file sub/out/file '*.txt' a.txt 'back\\slash' '-x' '\\*' '\\a'; do echo ${content} >"$f"; done`;
        await inside(source, make('source'));
        await target.host.files.makeDirectory(target.path);
        await inside(target, `${make('target')}; echo target >keep/own; echo target >sub/out/own`);
        const exclude = ['keep', 'dir[1]', 'sub/out', '*.txt', 'back\\slash', '-x', 'not-there', '\\*'];
        await sync.sync(source, target, { exclude });
        const kept = await inside(target, 'grep -rl target . | LC_ALL=C sort');
        assert.deepEqual(
          kept.trim().split('\n'),
          [
            './*.txt',
            './-x',
            './\\*',
            './back\\slash',
            './dir[1]/file',
            './keep/file',
            './keep/own',
            './sub/out/file',
            './sub/out/own',
          ].sort(),
        );
        assert.equal(await inside(target, "cat a.txt dir1/file sub/keep/file '\\a'"), 'source\n'.repeat(4));
        await inside(source, 'rm -r ./*');
        await sync.sync(source, target, { exclude });
        assert.equal(
          await inside(target, 'cat keep/own sub/out/own; [ -e dir1 ] || echo gone'),
          'target\ntarget\ngone\n',
        );
      },
    );

    check(
      'with some paths alone nothing else is copied, changed or removed, and they are no patterns',
      async ({ sync, source, target }) => {
        const names = ['a/b/c/file', 'a/b/other', 'a/own', 'single', '[x]*', 'x1', 'back\\slash/f', 'link/f', 'gone/f'];
        const make = (content: string) =>
          names.map((name) => `mkdir -p "$(dirname '${name}')"; echo ${content} >'${name}'`).join('; ');
        await inside(source, `${make('source')}; rm -r link gone; ln -s a link`);
        await target.host.files.makeDirectory(target.path);
        await inside(target, `${make('target')}; echo target >a/b/c/own; rm -r 'back\\slash'`);
        const only = ['a/b/c', 'single', '[x]*', 'back\\slash', 'link/b', 'gone'];
        const report = sorted(await sync.sync(source, target, { only }));
        assert.deepEqual(report.changed, ['[x]*', 'a/b/c/file', 'back\\slash', 'back\\slash/f', 'single'].sort());
        assert.deepEqual(report.removed, ['a/b/c/own', 'gone', 'gone/f']);
        assert.equal(await inside(target, "cat a/b/c/file single '[x]*' 'back\\slash/f'"), 'source\n'.repeat(4));
        assert.equal(await inside(target, 'cat a/b/other a/own x1 link/f'), 'target\n'.repeat(4));
      },
    );

    check(
      'names of any bytes arrive, are told as they are, and do nothing',
      async ({ sync, source, target, beside }) => {
        await run(source, [
          'sh',
          '-c',
          'cd "$1"; shift; for f do echo content >"./$f"; done',
          'sh',
          source.path,
          ...ODD_NAMES,
        ]);
        const report = sorted(await sync.sync(source, target));
        assert.deepEqual(report.changed, [...ODD_NAMES].sort());
        assert.equal(await look(target), await look(source));
        await run(source, ['sh', '-c', 'cd "$1"; shift; for f do rm "./$f"; done', 'sh', source.path, ...ODD_NAMES]);
        assert.deepEqual(sorted(await sync.sync(source, target)).removed, [...ODD_NAMES].sort());
        for (const place of [source, target])
          assert.equal(await run(place, ['find', beside(place), '-name', 'pwned']), '');
      },
    );

    check('the directories themselves may be called anything', async ({ sync, source, target }) => {
      // What a name that is taken for a pattern would lead to.
      const besides = [source, target].map((one) => ({ ...one, path: `${one.path}/a` }));
      for (const beside of besides) {
        await beside.host.files.makeDirectory(beside.path);
        await inside(beside, 'echo content >precious');
      }
      for (const odd of [
        "a b'c",
        'x:y',
        '-n',
        'new\nline',
        '*',
        '[abc]',
        '?',
        '$(touch pwned)',
        '\udcff',
        '[x] "y" \\',
      ]) {
        const [from, to] = [
          { ...source, path: `${source.path}/${odd}` },
          { ...target, path: `${target.path}/${odd}` },
        ];
        await from.host.files.makeDirectory(from.path);
        await inside(from, 'echo content >file');
        assert.deepEqual((await sync.sync(from, to)).changed, ['file'], odd);
        assert.equal(await inside(to, 'cat file'), 'content\n');
      }
      for (const beside of besides) assert.equal(await inside(beside, 'ls'), 'precious\n');
    });

    check('bytes of any value, an empty file and a large one arrive', async ({ sync, source, target }) => {
      await inside(source, 'head -c 9000000 /dev/urandom >random; : >empty; head -c 70000 /dev/zero >zeros');
      await sync.sync(source, target);
      assert.equal(await look(target), await look(source));
      await inside(source, 'echo more >>random; head -c 4000000 random >shorter; mv shorter zeros');
      await sync.sync(source, target);
      assert.equal(await look(target), await look(source));
    });

    check('a file is its old or its new content, whoever looks meanwhile', async ({ sync, source, target }) => {
      const fill = (letter: string) => `head -c 8000000 /dev/zero | tr '\\0' ${letter} >file`;
      await inside(source, fill('a'));
      await sync.sync(source, target);
      await inside(source, fill('b'));
      const looking = await target.host.spawn({
        argv: [
          'sh',
          '-c',
          'cd "$1"; echo looking; until [ -e stop ]; do cksum <file; done; cksum <file',
          'sh',
          target.path,
        ],
      });
      const seen = collected(looking);
      const known = new Set<string>();
      known.add((await inside(target, 'cksum <file')).trim());
      await sync.sync(source, target, { exclude: ['stop'] });
      known.add((await inside(target, 'cksum <file; : >stop')).trim());
      const lines = (await seen).stdout.trim().split('\n').slice(1);
      assert.equal(known.size, 2); // positive control
      assert.deepEqual(
        [...new Set(lines)].filter((line) => !known.has(line)),
        [],
      );
    });

    check('an aborted call rejects with its reason, leaves whole files, and the next finishes', async (fixture) => {
      const { sync, source, target } = fixture;
      const reason = new Error('enough');
      await inside(source, 'i=0; while [ $i -lt 40 ]; do head -c 1000000 /dev/urandom >file$i; i=$((i+1)); done');
      await assert.rejects(
        sync.sync(source, target, { signal: AbortSignal.abort(reason) }),
        (error) => error === reason,
      );
      assert.equal(await target.host.files.stat(target.path), undefined, 'an aborted call made the target');
      const controller = new AbortController();
      const running = sync.sync(source, target, { signal: controller.signal });
      running.catch(() => {});
      await eventually(
        async () => (await target.host.files.list(target.path))?.length ?? 0,
        (count) => count > 0,
      );
      const started = performance.now();
      controller.abort(reason);
      await assert.rejects(running, (error) => error === reason);
      assert.ok(performance.now() - started < 5_000, 'it took more than five seconds to end');
      const before = await look(target);
      const whole = await look(source);
      for (const line of before.split('\n').filter((one) => /^\d+ \d+ \.\/file\d+$/.test(one)))
        assert.ok(whole.includes(line), `${line} is half of it`);
      await sync.sync(source, target);
      assert.equal(await look(target), whole);
    });

    check('no source is NOT_FOUND and costs the target nothing; what is no directory is refused', async (fixture) => {
      const { sync, source, target } = fixture;
      await inside(source, 'mkdir real; echo x >real/x; ln -s real link; echo f >file');
      await sync.sync({ ...source, path: `${source.path}/real` }, target);
      const from = (name: string) => ({ ...source, path: `${source.path}/${name}` });
      await refused('NOT_FOUND', sync.sync(from('absent'), target));
      await refused('NOT_A_DIRECTORY', sync.sync(from('link'), target));
      await refused('NOT_A_DIRECTORY', sync.sync(from('link/'), target));
      await refused('NOT_A_DIRECTORY', sync.sync(from('file'), target));
      assert.equal(await inside(target, 'cat x; ln -s . ../link; echo f >../file'), 'x\n');
      for (const name of ['link', 'file'])
        await refused(
          'NOT_A_DIRECTORY',
          sync.sync(from('real'), { ...target, path: `${fixture.beside(target)}/${name}` }),
        );
    });

    check(
      'paths that are none are INVALID_ARGUMENT, and so is a directory in the other',
      async ({ sync, source, target }) => {
        await inside(source, 'mkdir in; echo x >in/x');
        const within = { ...source, path: `${source.path}/in/deeper` };
        await refused('INVALID_ARGUMENT', sync.sync(source, within));
        await refused('INVALID_ARGUMENT', sync.sync(within, source));
        await refused('INVALID_ARGUMENT', sync.sync(source, source));
        await refused('INVALID_ARGUMENT', sync.sync(source, { ...source, path: `${source.path}/../tree/in` }));
        for (const path of ['', 'relative', '/nul\0'])
          await refused('INVALID_ARGUMENT', sync.sync(source, { ...target, path }));
        for (const path of ['', '/absolute', '../up', 'a/../b', './a', 'a//b', 'a\0'])
          for (const options of [{ exclude: [path] }, { only: ['in', path] }])
            await refused('INVALID_ARGUMENT', sync.sync(source, target, options));
        await refused('INVALID_ARGUMENT', sync.sync(source, target, { only: [] }));
        assert.equal(await inside(source, 'cat in/x'), 'x\n');
      },
    );

    check('pipes and sockets are left out, and no bit beyond rwx is brought', async ({ sync, source, target }) => {
      await inside(source, 'mkfifo pipe; echo x >file; chmod 6755 file; mkdir dir; chmod 3755 dir');
      const { changed } = sorted(await sync.sync(source, target));
      assert.deepEqual(changed, ['dir', 'file']);
      assert.equal(await inside(target, 'ls; stat -c %a file dir'), 'dir\nfile\n755\n755\n');
    });

    check('the other direction is the same', async ({ sync, source, target }) => {
      await inside(source, MAKE);
      await sync.sync(source, target);
      await inside(target, 'echo back >plain; rm large; mkdir new; echo x >new/x');
      const report = sorted(await sync.sync(target, source));
      assert.deepEqual([report.changed, report.removed], [['new', 'new/x', 'plain'], ['large']]);
      assert.equal(await look(source), await look(target));
    });

    check(
      'of many changes as many are told as was asked for, and all are counted',
      async ({ sync, source, target }) => {
        await inside(source, 'i=0; while [ $i -lt 300 ]; do : >file$i; i=$((i+1)); done');
        const first = await sync.sync(source, target, { maxTold: 10 });
        assert.deepEqual([first.changed.length, first.changedCount], [10, 300]);
        await inside(source, 'rm file*; echo x >x');
        const second = await sync.sync(source, target, { maxTold: 10 });
        assert.deepEqual(
          [second.changed.length + second.removed.length, second.removedCount, second.changedCount],
          [10, 300, 1],
        );
        assert.equal(await inside(target, 'ls'), 'x\n');
      },
    );

    check('several at once do not meet', async ({ sync, source, target }) => {
      const trees = ['one', 'two', 'three'].map(
        (tree) =>
          [
            { ...source, path: `${source.path}/${tree}` },
            { ...target, path: `${target.path}/${tree}` },
          ] as const,
      );
      for (const [from] of trees) {
        await from.host.files.makeDirectory(from.path);
        await inside(from, `${MAKE}; pwd >own`);
      }
      await Promise.all(trees.map(([from, to]) => sync.sync(from, to)));
      for (const [from, to] of trees) assert.equal(await look(to), await look(from));
    });
  });
}

const NOTHING = { changed: [], removed: [], changedCount: 0, removedCount: 0 };

function sorted({ changed, removed, ...counts }: SyncReport): SyncReport {
  return { changed: [...changed].sort(), removed: [...removed].sort(), ...counts };
}

async function refused(code: LitterboxErrorCode, call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, (error) => isLitterboxError(error, code));
}

async function look(place: HostDirectory): Promise<string> {
  return await run(place, ['sh', '-c', LOOK, 'sh', place.path]);
}

/** Runs a script in the directory. @returns what it printed */
async function inside(place: HostDirectory, script: string): Promise<string> {
  return await run(place, ['sh', '-c', `umask 022; cd "$1" && { ${script}\n}`, 'sh', place.path]);
}

async function run({ host }: { readonly host: Host }, argv: readonly [string, ...string[]]): Promise<string> {
  const { stdout, stderr, exit }: Collected = await collected(await host.spawn({ argv }));
  assert.equal(exit.code, 0, stderr);
  return stdout;
}
