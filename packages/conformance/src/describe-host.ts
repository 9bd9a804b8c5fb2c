import assert from 'node:assert/strict';
import { type Host, isLitterboxError } from '@litterbox/core/provider';
import { assertAllAbort } from './assert-all-abort.ts';
import { assertSameBytes, collected, joined } from './collected.ts';
import { eventually } from './eventually.ts';
import type { TestRunner } from './runner.ts';
import { tcpServer } from './sandbox-provider/tcp-server.ts';

/** What {@link describeHost} needs to know of a host. */
export interface HostOptions {
  readonly name: string;
  readonly runner: TestRunner;
  readonly open: () => Promise<Host>;
  /** An absolute directory on the host that exists and may be written to; emptied by nobody. */
  readonly directory: () => Promise<string>;
  /** Sockets of that machine can be reached; where not, they are to be refused by name. @defaultValue true */
  readonly hasSockets?: boolean;
  /** Milliseconds per test. @defaultValue 30_000 */
  readonly timeoutMs?: number;
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** The contract of `Host`, executable. */
export function describeHost({
  name,
  runner,
  open,
  directory,
  hasSockets = true,
  timeoutMs = 30_000,
}: HostOptions): void {
  const check = (title: string, body: (host: Host, directory: string) => Promise<void>) =>
    runner.it(
      title,
      async () => {
        await using host = await open();
        const own = `${await directory()}/kit-${crypto.randomUUID()}`;
        await host.files.makeDirectory(own);
        try {
          await body(host, own);
        } finally {
          await host.files.remove(own);
        }
      },
      timeoutMs,
    );

  runner.describe(`Host contract: ${name}`, () => {
    check('facts() tells the machine', async (host) => {
      const facts = await host.facts();
      assert.equal(facts.platform, 'linux');
      assert.equal(facts.architecture, (await collected(await host.spawn({ argv: ['uname', '-m'] }))).stdout.trim());
      for (const [name, value] of Object.entries(host.environment))
        assert.ok(value === undefined || typeof value === 'string', `the variable ${name} is no text`);
      assert.equal(String(facts.uid), (await collected(await host.spawn({ argv: ['id', '-u'] }))).stdout.trim());
      assert.ok(
        facts.searchPath.every((path) => path.startsWith('/')) &&
          facts.homeDirectory.startsWith('/') &&
          facts.bootId !== '',
      );
    });

    check('spawn() keeps outputs and exit code apart, and arguments verbatim', async (host) => {
      const { stdout, stderr, exit } = await collected(
        await host.spawn({ argv: ['sh', '-c', 'printf "%s" "$1"; echo err >&2; exit 3', 'sh', "$(id) 'x' \udcff"] }),
      );
      assert.deepEqual({ stdout, stderr, exit }, { stdout: "$(id) 'x' \udcff", stderr: 'err\n', exit: { code: 3 } });
    });

    check('spawn() gives exactly the environment and the directory asked for', async (host, own) => {
      const { stdout } = await collected(await host.spawn({ argv: ['/usr/bin/env'], env: { ONLY: 'this' }, cwd: own }));
      assert.deepEqual(
        stdout
          .trim()
          .split('\n')
          .filter((line) => !/^(PWD|SHLVL|_|OLDPWD)=/.test(line)),
        ['ONLY=this'],
      );
      assert.equal((await collected(await host.spawn({ argv: ['pwd'], cwd: own }))).stdout, `${own}\n`);
    });

    check('spawn() passes no descriptor on', async (host) => {
      const { stdout } = await collected(
        await host.spawn({ argv: ['sh', '-c', 'for f in /proc/$$/fd/*; do [ -h "$f" ] && echo "${f##*/}"; done'] }),
      );
      assert.deepEqual(
        stdout
          .trim()
          .split('\n')
          .filter((descriptor) => Number(descriptor) > 2),
        [],
      );
    });

    check('a program that is not there is TOOL_MISSING', async (host) => {
      await assert.rejects(
        async () => collected(await host.spawn({ argv: ['no-such-program-of-the-kit'] })),
        (error) => isLitterboxError(error, 'TOOL_MISSING'),
      );
    });

    check('bytes pass through stdin and stdout, more than a pipe holds', async (host) => {
      const content = joined(Array.from({ length: 2048 }, () => Uint8Array.from({ length: 256 }, (_, index) => index)));
      await using process = await host.spawn({ argv: ['cat'], stdin: 'pipe' });
      const reading = (async () => {
        const parts: Uint8Array[] = [];
        for await (const chunk of process) parts.push(chunk.bytes);
        return joined(parts);
      })();
      await process.write(content);
      await process.closeStdin();
      assertSameBytes(await reading, content);
    });

    check('disposing and aborting end a program with what it started', async (host, own) => {
      const alive = async () =>
        (
          await collected(
            await host.spawn({ argv: ['sh', '-c', 'kill -0 "$(cat "$0/pid")" 2>/dev/null && echo alive', own] }),
          )
        ).stdout !== '';
      const script = 'sleep 1000 & echo $! >"$0/pid.new"; mv "$0/pid.new" "$0/pid"; wait';
      {
        await using _process = await host.spawn({ argv: ['sh', '-c', script, own] });
        await eventually(
          () => host.files.stat(`${own}/pid`),
          (stat) => stat !== undefined,
        );
        assert.equal(await alive(), true);
      }
      await eventually(alive, (isAlive) => !isAlive);
      await host.files.remove(`${own}/pid`);
      const controller = new AbortController();
      await using process = await host.spawn({ argv: ['sh', '-c', script, own] }, { signal: controller.signal });
      await eventually(
        () => host.files.stat(`${own}/pid`),
        (stat) => stat !== undefined,
      );
      controller.abort(new Error('enough'));
      await process.exit;
      await eventually(alive, (isAlive) => !isAlive);
    });

    check('signals arrive', async (host) => {
      await using process = await host.spawn({ argv: ['sleep', '1000'] });
      await process.kill('SIGTERM');
      assert.equal((await process.exit).code, 143);
    });

    check('files: write, read, stat, list, rename, remove', async (host, own) => {
      const { files } = host;
      const odd = `${own}/new\nline \udcff 'x'`;
      await files.write(odd, bytes('one'), { mode: 0o640 });
      assert.deepEqual(await files.read(odd), bytes('one'));
      await files.write(odd, bytes('two'));
      assert.deepEqual(await files.read(odd), bytes('two'));
      const stat = await files.stat(odd);
      assert.deepEqual({ type: stat?.type, size: stat?.sizeBytes }, { type: 'file', size: 3 });
      await files.makeDirectory(`${own}/a/b/c`);
      await files.makeDirectory(`${own}/a/b/c`);
      await files.write(`${own}/a/b/file`, new Uint8Array());
      assert.deepEqual(
        [...((await files.list(`${own}/a/b`)) ?? [])].sort((x, y) => (x.name < y.name ? -1 : 1)),
        [
          { name: 'c', type: 'directory' },
          { name: 'file', type: 'file' },
        ],
      );
      await files.rename(odd, `${own}/renamed`);
      assert.equal(await files.stat(odd), undefined);
      assert.equal(await files.read(odd), undefined);
      assert.equal(await files.list(odd), undefined);
      await files.remove(`${own}/a`);
      await files.remove(`${own}/a`);
      assert.equal(await files.stat(`${own}/a`), undefined);
    });

    check('files: removal follows no link and copes with locked directories', async (host, own) => {
      await collected(
        await host.spawn({
          argv: [
            'sh',
            '-c',
            'cd "$0" && mkdir keep tree tree/locked && echo x >keep/file && echo y >tree/locked/file && ln -s ../keep tree/link && ln -s ../../keep tree/locked/link && chmod 000 tree/locked',
            own,
          ],
        }),
      );
      await host.files.remove(`${own}/tree`);
      assert.equal(await host.files.stat(`${own}/tree`), undefined);
      assert.deepEqual(await host.files.read(`${own}/keep/file`), bytes('x\n'));
      await collected(await host.spawn({ argv: ['ln', '-s', 'keep', `${own}/link`] }));
      assert.equal((await host.files.stat(`${own}/link`))?.type, 'symlink');
      await host.files.remove(`${own}/link`);
      assert.deepEqual(await host.files.read(`${own}/keep/file`), bytes('x\n'));
    });

    check('files: removal reaches deeper than any path', async (host, own) => {
      const script = `mkdir "$0/deep" && cd "$0/deep" && i=0 && while [ $i -lt 300 ]; do
        mkdir aaaaaaaaaaaaaaaaaaaa && cd -P aaaaaaaaaaaaaaaaaaaa && echo x >file || exit 1; i=$((i + 1)); done; echo made`;
      const { stdout } = await collected(await host.spawn({ argv: ['sh', '-c', script, own] }));
      assert.equal(stdout, 'made\n');
      await host.files.remove(`${own}/deep`);
      assert.equal(await host.files.stat(`${own}/deep`), undefined);
    });

    check('files: a write that cannot be done leaves the old file and nothing beside it', async (host, own) => {
      await assert.rejects(host.files.write(`${own}/no/such/file`, bytes('x')), (error) =>
        isLitterboxError(error, 'NOT_FOUND'),
      );
      await host.files.write(`${own}/large`, new Uint8Array(1000));
      await assert.rejects(host.files.read(`${own}/large`, { maxBytes: 10 }), (error) =>
        isLitterboxError(error, 'RESOURCE_EXHAUSTED'),
      );
      assert.deepEqual(
        (await host.files.list(own))?.map((entry) => entry.name),
        ['large'],
      );
    });

    check('a socket that nobody listens on is UNAVAILABLE or NOT_FOUND', async (host, own) => {
      await assert.rejects(host.connect({ path: `${own}/socket` }), (error) =>
        hasSockets
          ? isLitterboxError(error, 'NOT_FOUND') || isLitterboxError(error, 'UNAVAILABLE')
          : isLitterboxError(error, 'UNSUPPORTED'),
      );
    });

    check('an aborted signal rejects with its reason', async (host, own) => {
      const reason = new Error('enough');
      const signal = AbortSignal.abort(reason);
      await assert.rejects(host.spawn({ argv: ['true'] }, { signal }), (error) => error === reason);
      await assert.rejects(host.files.write(`${own}/x`, bytes('x'), { signal }), (error) => error === reason);
    });

    check('without more words a program gets PATH, HOME and LANG, runs in /, and leads a group', async (host) => {
      const { stdout } = await collected(await host.spawn({ argv: ['/usr/bin/env'] }));
      const names = stdout
        .trim()
        .split('\n')
        .map((line) => line.slice(0, line.indexOf('=')));
      assert.deepEqual(
        names.filter((name) => !['PATH', 'HOME', 'LANG', 'PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)),
        [],
      );
      assert.ok(names.includes('PATH') && names.includes('HOME'));
      const { stdout: place } = await collected(await host.spawn({ argv: ['pwd'] }));
      assert.equal(place, '/\n');
      const stat = await collected(await host.spawn({ argv: ['sh', '-c', 'echo $$; cat /proc/$$/stat'] }));
      const [pid = '', fields = ''] = stat.stdout.split('\n');
      assert.equal(fields.slice(fields.lastIndexOf(')') + 2).split(' ')[2], pid, 'its group has its number');
    });

    check('what a program printed before anybody listens is there, also when it has ended', async (host) => {
      await using process = await host.spawn({ argv: ['sh', '-c', 'echo early; echo late >&2'] });
      await process.exit;
      await new Promise((resolve) => setTimeout(resolve, 50)); // for a host that lets go of what nobody reads
      const { stdout, stderr } = await collected(process);
      assert.deepEqual([stdout, stderr], ['early\n', 'late\n']);
    });

    check('a program that nobody listens to is held back, and a signal reaches its whole group', async (host, own) => {
      const process = await host.spawn({
        argv: ['sh', '-c', 'i=0; while :; do head -c 1048576 /dev/zero; i=$((i+1)); echo $i >"$0/written"; done', own],
      });
      const written = async () =>
        Number(new TextDecoder().decode((await host.files.read(`${own}/written`)) ?? bytes('0')));
      let last = -1;
      await eventually(
        async () => {
          const before = last;
          await new Promise((resolve) => setTimeout(resolve, 100));
          last = await written();
          return before === last;
        },
        (isStill) => isStill,
        5_000,
      );
      assert.ok(last <= 64, `${last} MiB were taken although nobody reads`);
      await process.kill('SIGKILL');
      assert.deepEqual(await process.exit, { code: 137, signal: 'SIGKILL' });
      await process[Symbol.asyncDispose]();
    });

    check(
      'files: modes, owners and types are told, and a directory that is there keeps its mode',
      async (host, own) => {
        const { files } = host;
        const { uid, gid } = await host.facts();
        await files.write(`${own}/secret`, bytes('x'), { mode: 0o640 });
        assert.deepEqual(await files.stat(`${own}/secret`), { type: 'file', sizeBytes: 1, mode: 0o640, uid, gid });
        await files.makeDirectory(`${own}/private`, { mode: 0o700 });
        await files.makeDirectory(`${own}/private`, { mode: 0o755 });
        assert.equal((await files.stat(`${own}/private`))?.mode, 0o700);
        await collected(
          await host.spawn({
            argv: ['sh', '-c', 'cd "$0" && ln -s nowhere link && mkfifo fifo && chmod 4711 secret', own],
          }),
        );
        assert.equal((await files.stat(`${own}/secret`))?.mode, 0o4711);
        assert.deepEqual([...((await files.list(own)) ?? [])].map(({ name, type }) => `${name} ${type}`).sort(), [
          'fifo special',
          'link symlink',
          'private directory',
          'secret file',
        ]);
        assert.equal((await files.stat(`${own}/fifo`))?.type, 'special');
      },
    );

    check('files: reading follows a link, writing, renaming and listing do not', async (host, own) => {
      const { files } = host;
      await files.write(`${own}/target`, bytes('target'));
      await files.makeDirectory(`${own}/directory/in`);
      const link = async () =>
        await collected(
          await host.spawn({ argv: ['sh', '-c', 'cd "$0" && ln -sfn target link && ln -sfn directory to', own] }),
        );
      await link();
      assert.deepEqual(await files.read(`${own}/link`), bytes('target'));
      await files.write(`${own}/link`, bytes('own'));
      assert.deepEqual(await files.read(`${own}/target`), bytes('target'), 'the file behind the link is as it was');
      assert.equal((await files.stat(`${own}/link`))?.type, 'file');
      await link();
      await files.rename(`${own}/link`, `${own}/moved`);
      assert.equal((await files.stat(`${own}/moved`))?.type, 'symlink');
      await files.write(`${own}/other`, bytes('other'));
      await files.rename(`${own}/other`, `${own}/moved`);
      assert.deepEqual(
        [await files.read(`${own}/moved`), await files.read(`${own}/target`)].map((one) => one?.length),
        [5, 6],
      );
      assert.equal((await files.stat(`${own}/to`))?.type, 'symlink');
    });

    check(
      'files: a rename over a directory with files fails and changes nothing, and of nothing too',
      async (host, own) => {
        const { files } = host;
        await files.makeDirectory(`${own}/source`);
        await files.makeDirectory(`${own}/full`);
        await files.write(`${own}/full/file`, bytes('kept'));
        await assert.rejects(files.rename(`${own}/source`, `${own}/full`), (error) => isLitterboxError(error));
        assert.deepEqual(await files.read(`${own}/full/file`), bytes('kept'));
        assert.equal((await files.stat(`${own}/source`))?.type, 'directory');
        await assert.rejects(files.rename(`${own}/nothing`, `${own}/some`), (error) =>
          isLitterboxError(error, 'NOT_FOUND'),
        );
      },
    );

    check('files: whoever reads while it is written sees one whole content or the other', async (host, own) => {
      const { files } = host;
      const contents = ['a', 'b'].map((letter) => bytes(letter.repeat(200_000)));
      await files.write(`${own}/file`, contents[0] ?? bytes(''));
      const done = new AbortController();
      const writing = (async () => {
        for (let round = 0; round < 30; round += 1) await files.write(`${own}/file`, contents[round % 2] ?? bytes(''));
      })().finally(() => done.abort());
      try {
        while (!done.signal.aborted) {
          const seen = await files.read(`${own}/file`);
          assert.ok(seen && seen.length === 200_000 && seen.every((byte) => byte === seen[0]), `${seen?.length} bytes`);
        }
      } finally {
        await writing;
      }
      assert.deepEqual(
        (await files.list(own))?.map(({ name }) => name),
        ['file'],
      );
    });

    check('a call that was aborted before rejects with the reason, whichever it is', async (host, own) => {
      const { files } = host;
      await assertAllAbort((call) => ({
        facts: () => host.facts(call),
        read: () => files.read(`${own}/x`, call),
        makeDirectory: () => files.makeDirectory(`${own}/x`, call),
        list: () => files.list(own, call),
        stat: () => files.stat(own, call),
        rename: () => files.rename(`${own}/x`, `${own}/y`, call),
        remove: () => files.remove(`${own}/x`, call),
        connect: () => host.connect({ host: '127.0.0.1', port: 1 }, call),
      }));
      assert.deepEqual(await files.list(own), []);
    });

    check('a connection carries bytes both ways, and each way ends by itself', async (host) => {
      if (!hasSockets) return; // that they are refused is tested above
      const port = 20_000 + Math.floor(Math.random() * 40_000);
      await using _server = await tcpServer(host, port, { name: 'kit' });
      await using stream = await host.connect({ host: '127.0.0.1', port });
      const content = joined(Array.from({ length: 4096 }, () => Uint8Array.from({ length: 256 }, (_, index) => index)));
      const reading = (async () => {
        const parts: Uint8Array[] = [];
        const reader = stream.readable.getReader();
        for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
        return joined(parts);
      })();
      const writer = stream.writable.getWriter();
      await writer.write(bytes('echo\n'));
      await writer.write(content);
      await writer.close();
      assertSameBytes(await reading, content);
      await stream[Symbol.asyncDispose]();
      await stream[Symbol.asyncDispose]();
      await assert.rejects(host.connect({ host: '127.0.0.1', port: 1 }), (error) =>
        isLitterboxError(error, 'UNAVAILABLE'),
      );
    });
  });
}
