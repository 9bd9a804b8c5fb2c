import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { expectInvariants, processState, type FaultFixture, faultFixture } from '../../src/index.ts';

const CLI = fileURLToPath(new URL('../../../cli/src/bin.ts', import.meta.url));

function commandLine(fixture: FaultFixture, ...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', '--conditions=@litterbox/source', CLI, ...args], {
    cwd: fixture.repository,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: fixture.directory,
      LITTERBOX_HOME: fixture.stateDirectory,
      GIT_CONFIG_NOSYSTEM: '1',
    },
  });
}

/** Waits for the first bytes it says, whatever they are. */
async function spoken(child: ChildProcess): Promise<void> {
  await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'close')]);
}

describe('the command line', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    '%s during a command: it ends within five seconds with %i, and what the command did is recorded',
    async (signal, code) => {
      await using fixture = faultFixture();
      await fixture.once(async (litterbox) => await litterbox.create({ name: 'a' }));
      const child = commandLine(fixture, 'run', 'a', '--', 'sh', '-c', 'echo half >half; echo said; sleep 1000');
      await spoken(child);
      const sentMs = performance.now();
      child.kill(signal);
      expect(await once(child, 'close')).toEqual([code, null]);
      expect(performance.now() - sentMs).toBeLessThan(5_000);
      await fixture.once(async (litterbox) => {
        await litterbox.reconcile();
        expect((await (await litterbox.open('a')).run('cat half')).stdout).toBe('half\n');
        const files = (await litterbox.changes('a')).map(({ path }) => path);
        expect(files).toEqual(['half']);
      });
      await expectInvariants(fixture, signal);
    },
  );

  it('SIGTERM at any time of a create: nothing of it is left, or all of it', async () => {
    await using fixture = faultFixture();
    for (const delayMs of [0, 150, 300, 450]) {
      const child = commandLine(fixture, 'create', 'a');
      const closed = once(child, 'close');
      // A time within a start-up is the point; what is reached by then differs, and every place is legal.
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      child.kill('SIGTERM');
      await closed;
      await fixture.once(async (litterbox) => {
        await litterbox.reconcile();
        for (const { name, state } of await litterbox.list()) {
          expect({ name, state }).toEqual({ name: 'a', state: 'ready' });
          await litterbox.delete(name, { force: true });
        }
      });
      await expectInvariants(fixture, `SIGTERM after ${delayMs} ms`);
    }
  });

  it('a reader that goes away ends it without a trace', async () => {
    await using fixture = faultFixture();
    await fixture.once(async (litterbox) => await litterbox.create({ name: 'a' }));
    const child = commandLine(fixture, 'run', 'a', '--', 'sh', '-c', 'echo kept >kept; while :; do echo more; done');
    await spoken(child);
    child.stdout?.destroy();
    const [code] = (await once(child, 'close')) as [number | null];
    expect([0, 141]).toContain(code);
    await fixture.once(async (litterbox) => {
      await litterbox.reconcile();
      expect((await (await litterbox.open('a')).run('cat kept')).stdout).toBe('kept\n');
    });
    await expectInvariants(fixture, 'SIGPIPE');
  });
});

describe('a frozen program', () => {
  it('that holds a sandbox: who waits is told its process id, and it goes on where it was', async () => {
    await using fixture = faultFixture();
    await fixture.once(async (litterbox) => await litterbox.create({ name: 'a' }));
    await using frozen = fixture.client({ failpoints: 'record.before-ref=pause' });
    frozen.send({ do: 'write', name: 'a', path: 'f', content: 'frozen\n' });
    await frozen.stopped();
    expect(processState(frozen.pid)).toBe('T');
    await fixture.once(async (litterbox) => {
      const waited = (await litterbox.open('a')).run('true');
      await expect(waited).rejects.toMatchObject({ code: 'BUSY', details: { facts: { holderPid: frozen.pid } } });
      expect((await litterbox.list()).map(({ state }) => state)).toEqual(['ready']);
    });
    frozen.kill('SIGCONT');
    const reply = await frozen.reply();
    expect(reply).toMatchObject({ ok: { commit: expect.any(String) } });
    fixture.acknowledged.add((reply as { ok: { commit: string } }).ok.commit);
    await frozen.ended();
    await expectInvariants(fixture, 'thawed');
  });
});

describe('something of a sandbox that is killed', () => {
  /** Processes in the sandbox's control group, oldest first. */
  function inside(fixture: FaultFixture, id: string): readonly number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          return (
            readFileSync(`/proc/${pid}/cgroup`, 'latin1').includes(id) || isSupervisor(pid, fixture.stateDirectory, id)
          );
        } catch {
          return false;
        }
      });
  }
  const isSupervisor = (pid: number, directory: string, id: string) =>
    readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`${directory}/overlayfs/sandboxes/${id}`);

  it('any one process of its session: the call ends with an error or a result, and the next one works', async () => {
    await using fixture = faultFixture();
    const { id } = await fixture.once(async (litterbox) => await litterbox.create({ name: 'a' }));
    for (let victim = 0; victim < 6; victim++) {
      await fixture.once(async (litterbox) => {
        const sandbox = await litterbox.open('a');
        await sandbox.run('true');
        const pids = inside(fixture, id).filter((pid) => pid !== process.pid);
        const pid = pids[victim % pids.length] ?? 0;
        let said = '';
        const running = sandbox.run(`echo ${victim} >>out; echo go; sleep 3`, {
          onOutput: () => {
            if (said === '') process.kill(pid, 'SIGKILL');
            said = 'go';
          },
        });
        await running.catch((error: unknown) =>
          expect(error).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) }),
        );
        expect((await sandbox.run('cat out | wc -l')).stdout.trim()).toBe(String(victim + 1));
      });
    }
    await expectInvariants(fixture, 'after six kills');
  });
});

describe('the program in a sandbox that packs and writes small files', () => {
  const find = `for p in /proc/[0-9]*; do case $(cat $p/comm) in perl) echo \${p#/proc/};; esac; done`;

  it.each([
    ['ended', (pid: number) => `kill -9 ${pid}`],
    ['stopped', (pid: number) => `kill -STOP ${pid}`],
    ['talked over', (pid: number) => `for fd in 1 2; do yes 0000000004evil | head -c 3000 >/proc/${pid}/fd/$fd; done`],
  ])('%s by an agent: what is written is written once and recorded as it is', async (_what, attack) => {
    await using fixture = faultFixture();
    await fixture.once(async (litterbox) => {
      const sandbox = await litterbox.create({ name: 'a' });
      for (const content of ['1', '2', '3']) await sandbox.files.write('f', content);
      const [pid = ''] = (await sandbox.run(find)).stdout.split('\n');
      expect(pid).toMatch(/^\d+$/); // it is there
      await sandbox.run(attack(Number(pid)));
      for (const content of ['4', '5', '6']) {
        const { revision } = await sandbox.files.write('f', content);
        fixture.acknowledged.add(revision?.commit ?? 'none');
        expect(Buffer.from(await sandbox.files.read('f')).toString()).toBe(content);
        expect(await recordedIn(fixture, 'a', 'f')).toBe(content);
      }
      expect((await sandbox.run('ls')).stdout).not.toContain('litterbox');
    });
    await expectInvariants(fixture, 'after the attack');
  });
});

/** A file as the newest revision has it. */
async function recordedIn(fixture: FaultFixture, name: string, path: string): Promise<string> {
  return await fixture.once(async (litterbox) => {
    const { id } = (await litterbox.open(name)).record;
    const [store = ''] = readdirSync(join(fixture.stateDirectory, 'repos')).filter((entry) =>
      /^[0-9a-f-]{36}$/.test(entry),
    );
    const directory = join(fixture.stateDirectory, 'repos', store, 'store.git');
    return execFileSync('git', ['--git-dir', directory, 'show', `refs/litterbox/${id}/tip:${path}`], {
      encoding: 'utf8',
    });
  });
}

describe('calls at once', () => {
  it('delete while a command runs, apply while one writes, milestone while one writes, two merges: each ends, in some order', async () => {
    await using fixture = faultFixture();
    await fixture.once(async (litterbox) => {
      for (const name of ['a', 'b', 'c']) await (await litterbox.create({ name })).run(`echo ${name} >${name}`);
    });
    await using writer = fixture.client();
    writer.send({
      do: 'run',
      name: 'a',
      command: 'for i in 1 2 3 4 5; do echo $i >>n; sleep 0.1; done; echo done',
      says: true,
    });
    await using other = fixture.client();
    await other.do({ do: 'milestone', name: 'a', message: 'beside a command' });
    const apply = async () => await other.do({ do: 'apply', name: 'a' });
    const refused = await apply().then(
      () => undefined,
      (error: { readonly code?: string }) => error.code,
    );
    expect(await writer.reply()).toMatchObject({ ok: { exitCode: 0 } });
    if (refused !== undefined) {
      expect(refused).toBe('CHANGED_SINCE_SHOWN'); // the command wrote between the look and the lock
      await apply();
    }
    fixture.git('commit', '-qam', 'applied');
    await using first = fixture.client();
    await using second = fixture.client();
    first.send({ do: 'merge', name: 'b' });
    second.send({ do: 'merge', name: 'c' });
    for (const reply of [await first.reply(), await second.reply()])
      expect(reply?.error?.code ?? 'ok').toMatch(/^(ok|HEAD_MOVED|BUSY)$/);
    writer.send({ do: 'run', name: 'a', command: 'echo go; sleep 5', says: true });
    await writer.spoke();
    const deleted = other.do({ do: 'delete', name: 'a' });
    expect(await writer.reply()).toBeDefined();
    await deleted;
    for (const client of [writer, other, first, second]) await client.ended();
    fixture.accept();
    await fixture.once(async (litterbox) => {
      expect((await litterbox.list()).filter(({ name }) => name === 'a')).toEqual([]);
      for (const { name } of await litterbox.list()) await litterbox.merge(name);
      expect(fixture.git('show', 'HEAD:b')).toBe('b');
      expect(fixture.git('show', 'HEAD:c')).toBe('c');
    });
    fixture.accept();
    await expectInvariants(fixture, 'after calls at once');
  });
});
