import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, expect, it } from '@jest/globals';
import { collected, eventually } from '@litterbox/conformance';
import { type Host, SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';
import { byShell, rewritten } from './rewritten.ts';

/** The session says that it ends when the next process was asked for, and is over a while after it let go of that one. */
function endsSlowly(host: Host, isNext: () => boolean): Host {
  const spawn: Host['spawn'] = (spec, options) =>
    host.spawn(
      rewritten(spec, (word) =>
        word
          .replace('\nwait $B\n', '\nwait $B\nuntil [ -e asked ]; do sleep 0.01; done\n')
          .replace(/(1<>"\$f"; done\n)(?!.*1<>"\$f")/s, '$1sleep 0.5\n')
          .replace('echo "run $1" 1<>control', (run) => (isNext() ? `${run}; : >../asked` : run)),
      ),
      options,
    );
  return { ...host, spawn };
}

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await removeBackend(directory);
});

it('a process that is asked for while the session ends is started in the next one', async () => {
  const directory = await backendDirectory('copy');
  directories.push(directory);
  const id = SandboxId.make();
  let isNext = false;
  await using provider = overlayfs({
    host: endsSlowly(localHost(), () => isNext),
    facts: await localHost().facts(),
    directory,
    strategy: 'copy',
    ...byShell,
  });
  await using runtime = await provider.create(sandboxSpec(id));
  const killing = await runtime.spawn({ argv: ['sh', '-c', 'kill -9 -1'] });
  await expect(killing.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  isNext = true;
  const { stdout } = await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo again'] }));
  expect(stdout).toBe('again\n');
  await provider.remove(id);
});

it('calls at once after a stop start one session, which ends with the runtime', async () => {
  const directory = await backendDirectory('copy');
  directories.push(directory);
  const id = SandboxId.make();
  const host = localHost();
  const ours = { host, facts: await host.facts(), directory, strategy: 'copy' } as const;
  await using provider = overlayfs(ours);
  const runtime = await provider.create(sandboxSpec(id));
  await collected(await runtime.spawn({ argv: ['true'] }));
  await runtime.stop();
  await runtime.start();
  const calls = [1, 2, 3].map(async () => await collected(await runtime.spawn({ argv: ['true'] })));
  await Promise.all([...calls, runtime.scan(undefined)]);
  await runtime[Symbol.asyncDispose]();
  await eventually(
    async () => readdirSync('/proc').filter((pid) => contentOf(`/proc/${pid}/cmdline`).includes(directory)),
    (left) => left.length === 0,
  );
  await provider.remove(id);
});

it.each(['overlay', 'copy'] as const)(
  '%s: a workspace that an agent has closed to itself is open in the next session, and what is in it is told',
  async (strategy) => {
    const directory = await backendDirectory(strategy);
    directories.push(directory);
    const id = SandboxId.make();
    await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory, strategy });
    const first = await provider.create(sandboxSpec(id));
    const { next } = await first.scan(undefined);
    const script = 'echo new >new; mkdir deep; echo below >deep/below; chmod 000 .';
    expect((await collected(await first.spawn({ argv: ['sh', '-c', script] }))).exit.code).toBe(0);
    const { next: closed, changes } = await first.scan(next);
    const told = [];
    for await (const { type, path } of changes) told.push(`${type} ${path}`);
    expect(told).toContain('unreadable ');
    // In the same session too.
    const again = await collected(await first.spawn({ argv: ['sh', '-c', 'cat new; chmod 000 .'] }));
    expect(again.stdout).toBe('new\n');
    await first[Symbol.asyncDispose]();

    await using second = await provider.open(id);
    const { stdout } = await collected(await second.spawn({ argv: ['sh', '-c', 'cat new deep/below; echo 2 >later'] }));
    expect(stdout).toBe('new\nbelow\n');
    const paths = [];
    for await (const { path } of (await second.scan(closed)).changes) paths.push(path);
    expect(paths).toEqual(expect.arrayContaining(['new', 'deep/below', 'later']));
    await provider.remove(id);
  },
);

it.each(['a program of the host', 'this process'])(
  'AX89: %s that hears what a program writes into the pipe of its own exit code has bounded memory',
  async (who) => {
    const directory = await backendDirectory('overlay');
    directories.push(directory);
    const id = SandboxId.make();
    const { pipes, ...pipeless } = localHost();
    const host = who === 'this process' ? localHost() : pipeless;
    await using provider = overlayfs({ host, facts: await host.facts(), directory });
    await using runtime = await provider.create(sandboxSpec(id));
    // What an agent does: the pipe is open in the process above it. Whoever reads gives up at a line that is none of ours.
    const flood = `echo found; until [ -e looked ]; do sleep 0.01; done; head -c 100000000 /dev/zero | tr '\\0' x >$f`;
    const script = `for f in /proc/[0-9]*/fd/*; do case $(readlink $f) in *.exit) { ${flood}; } & ;; esac; done; sleep 60`;
    await using program = await runtime.spawn({ argv: ['sh', '-c', script] });
    const { value } = await program[Symbol.asyncIterator]().next();
    expect(new TextDecoder().decode(value?.bytes)).toContain('found'); // the positive control: it is reached
    const programs = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => contentOf(`/proc/${pid}/cmdline`).includes(`${id}/io\0`));
    expect(programs.length > 0).toBe(who !== 'this process' && pipes !== undefined);
    for (const pid of programs)
      expect(contentOf(`/proc/${pid}/limits`)).toMatch(/^Max address space +268435456 +268435456 /m);
    const before = process.memoryUsage.rss();
    await collected(await runtime.spawn({ argv: ['touch', 'looked'] }));
    await expect(program.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 2 ** 20);
    await program[Symbol.asyncDispose]();
    await provider.remove(id);
  },
);

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
