import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type KeptSnapshot,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
  type SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SnapshotProvider,
  type SnapshotUsage,
} from '@litterbox/core/provider';

/** Groups of processes that run in a directory, whichever instance started them: what a snapshot has to freeze. */
const running = new Map<string, Set<ChildProcess>>();

/** Sandboxes that are plain directories, without any isolation: the smallest thing that can have snapshots. For tests of the kit. */
export function directoryProvider(root: string): SandboxProvider & { readonly snapshots: SnapshotProvider } {
  const workspace = (id: SandboxId) => join(root, 'sandboxes', id);
  const kept = (name: string) => join(root, 'snapshots', name);
  const runtimeOf = (id: SandboxId): SandboxRuntime => {
    const handles = new Set<ProcessHandle>();
    const refuse = () => Promise.reject(new Error('The directory provider has no such thing.'));
    return {
      id,
      workdir: workspace(id),
      playground: workspace(id),
      environment: {},
      spawn: async ({ argv: [program, ...args] }, call) => {
        call?.signal?.throwIfAborted();
        const handle = started(program, args, workspace(id));
        handles.add(handle);
        return handle;
      },
      assurance: refuse,
      scan: refuse,
      mark: refuse,
      pause: refuse,
      resume: refuse,
      stop: refuse,
      start: refuse,
      usage: refuse,
      async [Symbol.asyncDispose]() {
        for (const handle of handles) await handle[Symbol.asyncDispose]();
      },
    };
  };
  return {
    name: 'directory',
    traits: { isolation: 'none', limits: [], workdir: 'repository-path', roots: ['machine'], snapshotCost: 'copied' },
    probe: async () => ({ usable: true, checks: [] }),
    async create({ id, workspace: source }) {
      await mkdir(workspace(id), { recursive: true });
      const tar = spawn('tar', ['-xf', '-', '-C', workspace(id)], { stdio: ['pipe', 'ignore', 'inherit'] });
      const ended = new Promise((resolve) => tar.once('close', resolve));
      await pipeline(Readable.fromWeb(source.open() as never), tar.stdin);
      await ended;
      return runtimeOf(id);
    },
    async open(id) {
      await found(workspace(id));
      return runtimeOf(id);
    },
    async *list() {
      for (const id of await readdir(join(root, 'sandboxes'))) yield { id: id as SandboxId, state: 'running' as const };
    },
    remove: (id) => rm(workspace(id), { recursive: true, force: true }),
    snapshots: {
      async take(id, call) {
        call?.signal?.throwIfAborted();
        await found(workspace(id));
        const name = crypto.randomUUID();
        const groups = [...(running.get(workspace(id)) ?? [])].map(({ pid = 0 }) => -pid);
        for (const group of groups) process.kill(group, 'SIGSTOP');
        try {
          await copied(workspace(id), `${kept(name)}/files`);
          const told = { name, sandbox: id, takenAtMs: Date.now(), note: call?.note };
          await writeFile(`${kept(name)}/kept.json`, JSON.stringify(told));
        } finally {
          for (const group of groups) process.kill(group, 'SIGCONT');
        }
        return name;
      },
      async restore(id, name, call) {
        call?.signal?.throwIfAborted();
        await copied(`${kept(name)}/files`, `${workspace(id)}.new`);
        await rm(workspace(id), { recursive: true, force: true });
        await rename(`${workspace(id)}.new`, workspace(id));
      },
      async *list(call) {
        call?.signal?.throwIfAborted();
        for (const name of await readdir(join(root, 'snapshots')).catch(() => []))
          yield JSON.parse(await readFile(`${kept(name)}/kept.json`, 'utf8')) as KeptSnapshot;
      },
      async usage(names, call) {
        call?.signal?.throwIfAborted();
        const usages = new Map<string, SnapshotUsage>();
        for (const name of names) {
          const { stdout } = spawnSync('du', ['-s', '-k', `${kept(name)}/files`], { encoding: 'utf8' });
          if (stdout !== '') usages.set(name, { diskBytes: Number.parseInt(stdout, 10) * 1024 });
        }
        return usages;
      },
      async remove(name, call) {
        call?.signal?.throwIfAborted();
        await rm(kept(name), { recursive: true, force: true });
      },
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function found(directory: string): Promise<void> {
  await stat(directory).catch(() => {
    throw new LitterboxError('NOT_FOUND', 'There is no such sandbox.', { operation: 'provider.open' });
  });
}

/** With modes, links and fifos: `cp` of this machine, because Node's knows no fifos. */
async function copied(source: string, target: string): Promise<void> {
  await mkdir(join(target, '..'), { recursive: true });
  const { exit } = started('cp', ['-a', source, target], '/');
  if ((await exit).code !== 0) throw new Error(`${source} could not be copied.`);
}

function started(program: string, args: readonly string[], cwd: string): ProcessHandle {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const group = running.get(cwd) ?? new Set();
  running.set(cwd, group.add(child));
  const exit = new Promise<{ code: number }>((resolve) => {
    child.once('exit', (code) => {
      group.delete(child);
      resolve({ code: code ?? 137 });
    });
  });
  return {
    exit,
    write: async () => {},
    closeStdin: async () => {},
    kill: async (signal) => void child.kill(signal),
    async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
      const errors: Uint8Array[] = [];
      child.stderr.on('data', (bytes: Uint8Array) => errors.push(bytes));
      for await (const bytes of child.stdout) yield { type: 'stdout-data', bytes: bytes as Uint8Array };
      for (const bytes of errors) yield { type: 'stderr-data', bytes };
    },
    async [Symbol.asyncDispose]() {
      if (group.has(child) && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await exit;
    },
  };
}
