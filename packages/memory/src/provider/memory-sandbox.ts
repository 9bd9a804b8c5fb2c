import { baseEnvironment } from '@litterbox/sandbox-kit';
import { type ByteStream, INSIDE, type SandboxSpec } from '@litterbox/core/provider';
import { copyOfNode, type Directory, directoryNode, type FileNode } from '../machine/memory-files.ts';
import type { MemoryMachine } from '../machine/memory-machine.ts';

/** What a listener inside, or one outside that is reached from there, does with a connection. */
export type Listener = (stream: ByteStream) => void;

/** A sandbox in memory, whoever has it open. */
export interface MemorySandbox {
  spec: SandboxSpec;
  readonly machine: MemoryMachine;
  state: 'running' | 'paused' | 'stopped' | 'broken';
  readonly prepared: string | undefined;
  /** What programs inside listen on: a test puts them there. */
  readonly ports: Map<number, Listener>;
  /** What leads out of it, and how that ends. */
  readonly exits: Map<number, { readonly listener: Listener; end(): void }>;
}

/** The environment of the programs of a sandbox. */
export function environmentOf({ slug, environment }: SandboxSpec): Readonly<Record<string, string>> {
  return { ...baseEnvironment(slug, '/usr/bin:/bin'), ...environment };
}

/** Puts workspace, home and playground into a machine. */
export function furnish(
  machine: MemoryMachine,
  workdir: string,
  { workspace, home, playground }: { workspace: Directory; home: Directory; playground: Directory },
): void {
  const mount = (path: string, node: FileNode) => {
    machine.files.makeDirectory(path.slice(0, path.lastIndexOf('/')) || '/', true);
    const { parent, name } = machine.files.find(path, false);
    parent.children.set(name, node);
  };
  mount(INSIDE.home, home);
  mount(INSIDE.playground, playground);
  mount(workdir, workspace);
  if (workdir !== '/src') mount('/src', { type: 'symlink', target: workdir, version: 0 });
}

/** A directory of a machine; an empty one where there is none. */
export function directoryOf({ machine }: Pick<MemorySandbox, 'machine'>, path: string): Directory {
  const node = machine.files.look(path);
  return node?.type === 'directory' ? node : directoryNode();
}

export function copyOfDirectory(node: Directory): Directory {
  const copy = copyOfNode(node);
  return copy.type === 'directory' ? copy : directoryNode();
}
