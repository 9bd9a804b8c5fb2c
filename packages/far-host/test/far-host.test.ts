import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { collected, eventually } from '@litterbox/conformance';
import { FAR_PATIENCE, type FarHost, type FarHostOptions, openFarHost } from '@litterbox/far-host';
import { type ShellsOptions, ShellsOfThisMachine } from './shells-of-this-machine.ts';

const open: AsyncDisposable[] = [];
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'litterbox-far-'));
});
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** A host over shells of this machine, and the ways that it has taken so far. */
async function far(shells: ShellsOptions = {}, options: Partial<FarHostOptions> = {}) {
  const ways: ShellsOfThisMachine[] = [];
  const host: FarHost = await openFarHost({
    name: 'far',
    connect: async () => {
      const way = new ShellsOfThisMachine(shells);
      ways.push(way);
      return way;
    },
    ...options,
  });
  open.push(host);
  return { host, ways };
}

/** A program that lasts, in a file its number, which ignores that its stdin ends. */
const LASTING = 'trap "" HUP TERM; echo $$ >"$0.new"; mv "$0.new" "$0"; while :; do sleep 0.1; done';

async function lasting(host: FarHost, name: string): Promise<number> {
  const file = join(directory, name);
  const process = await host.spawn({ argv: ['sh', '-c', LASTING, file], stdin: 'pipe' });
  process.exit.catch(() => {});
  await eventually(
    async () => existsSync(file),
    (isThere) => isThere,
  );
  return Number(readFileSync(file, 'utf8'));
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

describe.each([
  ['one shell', true],
  ['a shell for each program', false],
])('a machine behind %s', (_name, sharesSession) => {
  it('a way that is cut ends what was started over it, and the next call takes another way', async () => {
    const { host, ways } = await far({}, { sharesSession });
    const pid = await lasting(host, 'program');
    expect(isAlive(pid)).toBe(true);
    const running = await host.spawn({ argv: ['sleep', '1000'] });
    await ways[0]?.cut();
    await expect(running.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(collected(running)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await eventually(
      async () => isAlive(pid),
      (alive) => !alive,
    );
    expect((await collected(await host.spawn({ argv: ['echo', 'again'] }))).stdout).toBe('again\n');
    expect(ways).toHaveLength(2);
  });

  it('a machine that hears nothing any more ends what was started there', async () => {
    const patience = { ...FAR_PATIENCE, beatMs: 100_000, farLookSeconds: 1, farSilenceSeconds: 2 };
    const { host, ways } = await far({}, { sharesSession, patience });
    const pid = await lasting(host, 'program');
    await eventually(
      async () => isAlive(pid),
      (alive) => !alive,
      30_000,
    );
    // Where each shell has a session of its own, those that wait end with the sessions.
    if (!sharesSession) return;
    await eventually(
      async () => ways[0]?.openCount,
      (count) => count === 0,
    );
  });

  it('a machine that answers nothing any more is given up, and asked anew', async () => {
    const patience = { ...FAR_PATIENCE, beatMs: 200, nearLostBeats: 2 };
    const { host, ways } = await far({}, { sharesSession, patience });
    const running = await host.spawn({ argv: ['sleep', '1000'] });
    const stopped = (ways[0]?.pids ?? []).flatMap(descendants);
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    try {
      await expect(running.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      for (const pid of stopped) if (isAlive(pid)) process.kill(pid, 'SIGCONT');
    }
    expect((await host.facts()).platform).toBe('linux');
    expect((await collected(await host.spawn({ argv: ['echo', 'again'] }))).stdout).toBe('again\n');
  });

  it('leaves neither processes nor files of its own', async () => {
    const { host, ways } = await far({}, { sharesSession });
    const pid = await lasting(host, 'program');
    const own = readdirSync('/tmp').find((name) => existsSync(`/tmp/${name}/${pid}`)) ?? '';
    expect(own).toMatch(/^\.litterbox-/);
    await host[Symbol.asyncDispose]();
    await eventually(
      async () => ({ isAlive: isAlive(pid), isThere: existsSync(`/tmp/${own}`), shells: ways[0]?.openCount }),
      (left) => !left.isAlive && !left.isThere && left.shells === 0,
    );
  });

  it('a login shell that prints and reads what it likes disturbs nobody', async () => {
    const noise = 'echo welcome; echo warning >&2; head -c 300000 /dev/zero;';
    const { host } = await far({ loginShell: ['sh', '-c', `${noise} eval "$1"`, 'sh'] }, { sharesSession });
    const { stdout, stderr, exit } = await collected(
      await host.spawn({ argv: ['sh', '-c', 'echo out; echo err >&2; exit 3'] }),
    );
    expect({ stdout, stderr, exit }).toEqual({ stdout: 'out\n', stderr: 'err\n', exit: { code: 3 } });
    await host.files.write(`${directory}/file`, new TextEncoder().encode('content'));
    expect(readFileSync(`${directory}/file`, 'utf8')).toBe('content');
  });

  it('what stdin lacks never gets the name of a file', async () => {
    const { host, ways } = await far({ delayMs: 20 }, { sharesSession });
    writeFileSync(`${directory}/file`, 'before');
    const writing = host.files.write(`${directory}/file`, new Uint8Array(8 * 2 ** 20));
    const outcome = writing.then(
      () => 'written',
      (error: { readonly code?: string }) => error.code,
    );
    await eventually(
      async () => readdirSync(directory).length,
      (count) => count === 2,
    );
    await ways[0]?.cut();
    expect(await outcome).toBe('UNAVAILABLE');
    await eventually(
      async () => readdirSync(directory),
      (names) => names.length === 1,
    );
    expect(readFileSync(`${directory}/file`, 'utf8')).toBe('before');
  });

  it('a thousand programs leave nothing open', async () => {
    const { host, ways } = await far({}, { sharesSession });
    for (let count = 0; count < 100; count += 1) {
      await using one = await host.spawn({ argv: ['true'] });
      await one.exit;
    }
    // The watch, what is shared, and shells that wait.
    expect(ways[0]?.openCount).toBeLessThanOrEqual(5);
  });
});

it.each([['fish'], ['csh'], ['tcsh'], ['busybox sh'], ['dash'], ['bash']])(
  'works with %s as the login shell',
  async (shell) => {
    const words = shell.split(' ');
    const isThere = execFileSync('sh', ['-c', `command -v ${words[0]} || true`], { encoding: 'utf8' }).trim() !== '';
    if (!isThere) return; // the deep tests' machine has them all
    const { host } = await far({ loginShell: [words[0] ?? 'sh', ...words.slice(1), '-c'] });
    const { stdout } = await collected(await host.spawn({ argv: ['printf', '%s', `a'b"c$d\`e\\f!g\n%h \udcff`] }));
    expect(stdout).toBe(`a'b"c$d\`e\\f!g\n%h \udcff`);
  },
);

it('what is no shell at all is UNAVAILABLE in bounded time', async () => {
  const patience = { ...FAR_PATIENCE, startMs: 1_000 };
  await expect(far({ loginShell: ['sleep', '1000'] }, { patience })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(far({ loginShell: ['true'] }, { patience })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(far({ loginShell: ['yes'] }, { patience })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

function descendants(pid: number): readonly number[] {
  const children = execFileSync('sh', ['-c', 'cat /proc/$0/task/*/children 2>/dev/null || true', String(pid)], {
    encoding: 'utf8',
  });
  const numbers = children.trim().split(/\s+/).filter(Boolean).map(Number);
  return [pid, ...numbers.flatMap(descendants)];
}
