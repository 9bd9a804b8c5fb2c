import assert from 'node:assert/strict';
import { type Host, isLitterboxError } from '@litterbox/core/provider';
import { assertSameBytes, collected, joined } from './collected.ts';
import { eventually } from './eventually.ts';
import type { TestRunner } from './runner.ts';

export interface HostOptions {
  readonly name: string;
  readonly runner: TestRunner;
  readonly open: () => Promise<Host>;
  /** An absolute directory on the host that exists and may be written to; emptied by nobody. */
  readonly directory: () => Promise<string>;
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** The contract of `Host`, executable. */
export function describeHost({ name, runner, open, directory }: HostOptions): void {
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
      30_000,
    );

  runner.describe(`Host contract: ${name}`, () => {
    check('facts() tells the machine', async (host) => {
      const facts = await host.facts();
      assert.equal(facts.platform, 'linux');
      assert.equal(facts.architecture, (await collected(await host.spawn({ argv: ['uname', '-m'] }))).stdout.trim());
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
      await assert.rejects(
        host.connect({ path: `${own}/socket` }),
        (error) => isLitterboxError(error, 'NOT_FOUND') || isLitterboxError(error, 'UNAVAILABLE'),
      );
    });

    check('an aborted signal rejects with its reason', async (host, own) => {
      const reason = new Error('enough');
      const signal = AbortSignal.abort(reason);
      await assert.rejects(host.spawn({ argv: ['true'] }, { signal }), (error) => error === reason);
      await assert.rejects(host.files.write(`${own}/x`, bytes('x'), { signal }), (error) => error === reason);
    });
  });
}
