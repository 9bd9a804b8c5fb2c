// What is left when a session ends, by whoever and however it was ended: nothing that runs, and no control group.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, eventually } from '@litterbox/conformance';
import { SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, isRoot, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';
import { sessionHolders } from './session-holders.ts';

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await removeBackend(directory);
});

async function opened() {
  const directory = await backendDirectory('copy');
  directories.push(directory);
  const provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory, strategy: 'copy' });
  const id = SandboxId.make();
  return { provider, id, directory, runtime: await provider.create(sandboxSpec(id)) };
}

/** The arguments of each process of this machine, by its number. */
function processes(): ReadonlyMap<number, string> {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return new Map(all.map((pid) => [Number(pid), argumentsOf(pid)]));
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return ''; // it ended
  }
}

const marked = (mark: string) => [...processes().values()].filter((line) => line.includes(mark)).length;

/** Control groups of the sandbox, of either version. */
function groups(id: SandboxId): readonly string[] {
  const find = (directory: string, depth: number): readonly string[] =>
    readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) =>
        name === id ? [`${directory}/${name}`] : depth > 0 ? find(`${directory}/${name}`, depth - 1) : [],
      );
  return existsSync('/sys/fs/cgroup') ? find('/sys/fs/cgroup', 6) : [];
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it went with another one
  }
}

describe('what a session leaves', () => {
  it.each(['runs', 'is paused'])('is nothing when its supervisor was killed while it %s', async (state) => {
    await using stack = new AsyncDisposableStack();
    const { provider, id, runtime } = await opened();
    stack.use(provider);
    stack.use(runtime);
    const mark = crypto.randomUUID();
    const running = await runtime.spawn({ argv: ['sh', '-c', 'trap "" HUP TERM; while :; do sleep 1; done', mark] });
    running.exit.catch(() => {}); // the session is lost
    await eventually(
      async () => marked(mark),
      (count) => count > 0,
    );
    expect(groups(id).length).toBeGreaterThan(0);
    if (state === 'is paused') await runtime.pause();
    const { cpuMs = 0 } = await runtime.usage();
    expect(cpuMs).toBeGreaterThan(0);
    expect(sessionHolders(id).length).toBeGreaterThan(0);
    for (const pid of sessionHolders(id)) end(pid);
    await runtime.stop();
    expect({ marked: marked(mark), groups: groups(id) }).toEqual({ marked: 0, groups: [] });
    await runtime.start();
    expect((await collected(await runtime.spawn({ argv: ['echo', 'on'] }))).stdout).toBe('on\n');
    // Each of them left its control groups: to who stopped it, and to the session that followed.
    const { cpuMs: stopped = 0 } = await runtime.usage();
    expect(stopped).toBeGreaterThanOrEqual(cpuMs);
    for (const pid of sessionHolders(id)) end(pid);
    expect((await collected(await runtime.spawn({ argv: ['echo', 'again'] }))).stdout).toBe('again\n');
    expect((await runtime.usage()).cpuMs).toBeGreaterThan(stopped);
    for (const pid of sessionHolders(id)) end(pid);
    await provider.remove(id);
    expect({ holders: sessionHolders(id), groups: groups(id) }).toEqual({ holders: [], groups: [] });
  });

  it('is nothing when its supervisor alone was killed, before anybody stops it', async () => {
    await using stack = new AsyncDisposableStack();
    const { provider, id, runtime } = await opened();
    stack.use(provider);
    stack.use(runtime);
    await collected(await runtime.spawn({ argv: ['true'] }));
    const isFirst = (pid: number) => /^NSpid:\t\d+\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    const [supervisor, ...others] = sessionHolders(id).filter(isFirst);
    expect(others).toEqual([]);
    expect(groups(id).length).toBeGreaterThan(0);
    process.kill(supervisor ?? Number.NaN, 'SIGKILL');
    await eventually(
      async () => [...sessionHolders(id), ...groups(id)],
      (left) => left.length === 0,
    );
    expect((await collected(await runtime.spawn({ argv: ['echo', 'on'] }))).stdout).toBe('on\n');
    await provider.remove(id);
  });

  it('is no pipe that the next session uses', async () => {
    await using stack = new AsyncDisposableStack();
    const { provider, id, runtime, directory } = await opened();
    stack.use(provider);
    stack.use(runtime);
    const paths = ['io/control', 'io/ready', 'scan-io/control', 'scan-io/ready'].map(
      (name) => `${directory}/overlayfs/sandboxes/${id}/${name}`,
    );
    // Held, so that their numbers are not given to others.
    const held = paths.map((path) => openSync(path, constants.O_RDWR));
    try {
      const before = held.map((descriptor) => fstatSync(descriptor));
      expect(before.map((one) => one.isFIFO())).toEqual([true, true, true, true]);
      await runtime.stop();
      await runtime.start();
      expect((await collected(await runtime.spawn({ argv: ['echo', 'on'] }))).stdout).toBe('on\n');
      for (const [index, path] of paths.entries())
        expect({ path, ino: statSync(path).ino }).not.toEqual({ path, ino: before[index]?.ino });
    } finally {
      for (const descriptor of held) closeSync(descriptor);
    }
    await provider.remove(id);
  });

  // Who is put into one group of version 1 and not into the others is ended by nobody of ours: so stands for who cannot be ended.
  const alone = isRoot && existsSync('/sys/fs/cgroup/pids') ? it : it.skip;
  alone('is said when it cannot be ended, and nothing starts beside it', async () => {
    await using stack = new AsyncDisposableStack();
    const { provider, id, runtime } = await opened();
    stack.use(provider);
    stack.use(runtime);
    await runtime.stop();
    const group = `/sys/fs/cgroup/pids/litterbox/${id}`;
    const other = spawn('sleep', ['1000']);
    try {
      mkdirSync(group);
      writeFileSync(`${group}/cgroup.procs`, String(other.pid));
      await expect(runtime.stop()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('processes are left'),
      });
      await runtime.start();
      const starting = runtime.spawn({ argv: ['true'] });
      await expect(starting).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('processes are left'),
      });
      await expect(provider.remove(id)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('processes are left'),
      });
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
    expect((await collected(await runtime.spawn({ argv: ['echo', 'on'] }))).stdout).toBe('on\n');
    await provider.remove(id);
    expect(groups(id)).toEqual([]);
  });
});
