import { alreadyThere, cannotHonour, notHere, SETUP_KEY } from '@litterbox/sandbox-kit';
import {
  type CallOptions,
  type Clock,
  INSIDE,
  LitterboxError,
  type SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { artefactEntries } from './artefact-entries.ts';
import { type Directory, directoryNode } from '../machine/memory-files.ts';
import type { Program } from '../machine/machine-process.ts';
import { type CommandScript, scriptPrograms } from '../machine/command-script.ts';
import { MemoryMachine } from '../machine/memory-machine.ts';
import { PROGRAMS } from '../machine/programs.ts';
import { unpack } from '../machine/tar.ts';
import { copyOfDirectory, directoryOf, furnish, type MemorySandbox } from './memory-sandbox.ts';
import { endSandbox, memoryAssurance, memoryRuntime } from './memory-runtime.ts';
import { memorySnapshots } from './memory-snapshots.ts';
import { readTar } from '../tools/read-tar.ts';
import type { SandboxShelf } from './sandbox-shelf.ts';

/** What a provider in memory is made of. */
export interface MemoryProviderOptions {
  readonly shelf: SandboxShelf;
  readonly clock: Clock;
  /** @defaultValue `memory` */
  readonly name?: string;
  /** Programs that its sandboxes have besides those of every machine in memory: what a test needs of `npm` or `git`. */
  readonly programs?: Readonly<Record<string, Program>>;
  /** Runs commands in place of the shell. @defaultValue all of them run in the shell in memory */
  readonly script?: CommandScript;
  /** Hears what the script threw. */
  readonly onScriptFailure?: (error: unknown) => void;
}

/** Sandboxes in memory: files, processes and a shell, and nothing of this machine. Its state is the shelf's. */
export function memoryProvider({
  shelf,
  clock,
  name = 'memory',
  programs = {},
  script,
  onScriptFailure = () => {},
}: MemoryProviderOptions): SandboxProvider {
  const scripted = script && scriptPrograms(script, onScriptFailure);
  const known = new Map([
    ...PROGRAMS,
    ...(scripted ? ([['bash', scripted.bash]] as const) : []),
    ...Object.entries(programs),
  ]);
  const of = (id: SandboxId): MemorySandbox => {
    const sandbox = shelf.sandboxes.get(id);
    if (sandbox) return sandbox;
    throw notHere(name, id);
  };
  const runtimeOf = (sandbox: MemorySandbox) => memoryRuntime(sandbox, shelf, name);

  const baseTree = async ({ workspace }: SandboxSpec, options?: CallOptions): Promise<Directory> => {
    const made = shelf.trees.get(workspace.key);
    if (made) return copyOfDirectory(made);
    const parts: Uint8Array[] = [];
    for await (const part of workspace.open(options)) parts.push(part);
    options?.signal?.throwIfAborted();
    const machine = new MemoryMachine(known, clock);
    machine.files.makeDirectory('/tree', true);
    unpack(machine.files, '/tree', readTar(Buffer.concat(parts)));
    const tree = directoryOf({ machine }, '/tree');
    forgetVersions(tree);
    shelf.trees.set(workspace.key, tree);
    return copyOfDirectory(tree);
  };

  /** The base, with what comes along. */
  const begun = async (spec: SandboxSpec, options?: CallOptions): Promise<Directory> => {
    const base = await baseTree(spec, options);
    if (!spec.artefacts) return base;
    const machine = new MemoryMachine(known, clock);
    furnish(machine, spec.workdir, { workspace: base, home: directoryNode(), playground: directoryNode() });
    const entries = await artefactEntries(spec.artefacts, options);
    options?.signal?.throwIfAborted();
    unpack(machine.files, spec.workdir, entries);
    const tree = directoryOf({ machine }, spec.workdir);
    forgetVersions(tree);
    return tree;
  };

  const playgroundOf = (key: string): Directory => {
    const playground = shelf.playgrounds.get(key) ?? directoryNode();
    shelf.playgrounds.set(key, playground);
    return playground;
  };

  const layersOf = async (spec: SandboxSpec, options?: CallOptions) => {
    if (spec.copyOf !== undefined) {
      const source = of(spec.copyOf);
      return {
        workspace: copyOfDirectory(directoryOf(source, source.spec.workdir)),
        home: copyOfDirectory(directoryOf(source, INSIDE.home)),
        version: source.machine.files.version,
        prepared: source.prepared,
      };
    }
    const prepared = spec.artefacts
      ? undefined
      : spec.prepared?.find((key) => shelf.setups.get(key)?.base === spec.workspace.key);
    const kept = prepared === undefined ? undefined : shelf.setups.get(prepared);
    if (kept)
      return {
        workspace: copyOfDirectory(kept.workspace),
        home: copyOfDirectory(kept.home),
        version: kept.version,
        prepared,
      };
    return { workspace: await begun(spec, options), home: directoryNode(), version: 0, prepared: undefined };
  };

  const assertHonourable = (spec: SandboxSpec) => {
    if (spec.strategy !== undefined) throw cannotHonour(name, `the strategy ${spec.strategy}`, 'Leave it out.');
    if (spec.root.type === 'directory') throw cannotHonour(name, 'a root directory', 'Leave it out.');
    if (spec.root.type === 'image' && spec.root.installed !== undefined) {
      if (!shelf.images.has(imageKey(spec.root.reference, spec.root.installed)))
        throw new LitterboxError('NOT_FOUND', 'What is to be installed in the image is not.', {
          operation: 'provider.create',
          provider: name,
        });
    }
    if (shelf.sandboxes.has(spec.id)) throw alreadyThere(name, spec.id);
  };

  const create = async (spec: SandboxSpec, options?: CallOptions): Promise<SandboxRuntime> => {
    options?.signal?.throwIfAborted();
    assertHonourable(spec);
    const { workspace, home, version, prepared } = await layersOf(spec, options);
    if (shelf.sandboxes.has(spec.id)) throw alreadyThere(name, spec.id);
    if (spec.copyOf !== undefined && !shelf.playgrounds.has(spec.playground))
      shelf.playgrounds.set(spec.playground, copyOfDirectory(playgroundOf(of(spec.copyOf).spec.playground)));
    const machine = new MemoryMachine(known, clock, scripted?.unknown);
    furnish(machine, spec.workdir, { workspace, home, playground: playgroundOf(spec.playground) });
    machine.files.countFrom(Math.max(version, machine.files.version));
    const sandbox: MemorySandbox = {
      spec,
      machine,
      state: 'running',
      prepared,
      ports: new Map(),
      exits: new Map(),
    };
    shelf.sandboxes.set(spec.id, sandbox);
    return runtimeOf(sandbox);
  };

  return {
    name,
    traits: {
      isolation: 'none',
      limits: ['memoryBytes', 'cpus', 'processes', 'openFiles', 'diskBytes', 'diskBytesPerSecond'],
      workdir: '/src',
      roots: ['machine', 'image'],
      canCopy: true,
      canBring: true,
      snapshotCost: 'copied',
    },

    async probe(options) {
      options?.signal?.throwIfAborted();
      const checks = [{ name: 'memory', status: 'ok' as const, finding: 'There is memory.' }];
      return { usable: true, checks, assurance: memoryAssurance(name) };
    },

    create,

    async open(id, options) {
      options?.signal?.throwIfAborted();
      const sandbox = of(id);
      if (sandbox.state === 'broken')
        throw new LitterboxError('SANDBOX_BROKEN', 'Something of the sandbox is missing.', {
          operation: 'provider.open',
          provider: name,
        });
      return runtimeOf(sandbox);
    },

    async *list(options) {
      options?.signal?.throwIfAborted();
      for (const { spec, state } of shelf.sandboxes.values()) yield { id: spec.id, state };
    },

    async remove(id, options) {
      options?.signal?.throwIfAborted();
      const sandbox = shelf.sandboxes.get(id);
      shelf.sandboxes.delete(id);
      if (sandbox) await endSandbox(sandbox);
      if (!options?.keepPlayground && (sandbox?.spec.playground ?? id) === id) shelf.playgrounds.delete(id);
    },

    setups: {
      async keep(id, key, options) {
        options?.signal?.throwIfAborted();
        const sandbox = of(id);
        if (!SETUP_KEY.test(key))
          throw new LitterboxError('INVALID_ARGUMENT', 'The key is no digest.', { operation: 'setups.keep' });
        await endSandbox(sandbox);
        const { spec, machine } = sandbox;
        if (shelf.setups.has(key) || spec.artefacts) return;
        shelf.setups.set(key, {
          base: spec.workspace.key,
          workspace: copyOfDirectory(directoryOf(sandbox, spec.workdir)),
          home: copyOfDirectory(directoryOf(sandbox, INSIDE.home)),
          version: machine.files.version,
        });
      },

      async *list(options) {
        options?.signal?.throwIfAborted();
        for (const key of shelf.setups.keys()) {
          const users = [...shelf.sandboxes.values()].filter(({ prepared }) => prepared === key);
          yield { key, usedBy: users.map(({ spec }) => spec.id) };
        }
      },
    },

    snapshots: memorySnapshots(shelf, clock, of),

    images: {
      async has(reference, key, options) {
        options?.signal?.throwIfAborted();
        return shelf.images.has(imageKey(reference, key));
      },

      async keep(id, key, options) {
        options?.signal?.throwIfAborted();
        const { spec } = of(id);
        if (spec.root.type !== 'image' || !spec.isInstaller)
          throw new LitterboxError('INVALID_ARGUMENT', 'Nothing was installed there.', { operation: 'images.keep' });
        shelf.images.add(imageKey(spec.root.reference, key));
      },

      async remove(reference, key, options) {
        options?.signal?.throwIfAborted();
        shelf.images.delete(imageKey(reference, key));
      },
    },

    async [Symbol.asyncDispose]() {},
  };
}

const imageKey = (reference: string, key: string) => `${reference} ${key}`;

/** What a base has is no change. */
function forgetVersions(directory: Directory): void {
  directory.version = 0;
  for (const node of directory.children.values())
    if (node.type === 'directory') forgetVersions(node);
    else node.version = 0;
}
