import { type Clock } from '@litterbox/core/provider';
import { directoryNode, FileFailure, MemoryFiles } from './memory-files.ts';
import { type Machine, MachineProcess, ProcessEnd, type Program } from './machine-process.ts';
import type { OpenFile } from './open-file.ts';

/** Files and the processes that work on them, without any of this machine's. */
export class MemoryMachine implements Machine {
  readonly files = new MemoryFiles();
  readonly processes = new Map<number, MachineProcess>();
  readonly programs: ReadonlyMap<string, Program>;
  readonly unknown: Program | undefined;
  readonly clock: Clock;
  /** Resolves when the processes may go on; absent while they may. */
  frozen: Promise<void> | undefined;
  #thaw = () => {};
  #nextPid = 2;

  constructor(programs: ReadonlyMap<string, Program>, clock: Clock, unknown?: Program) {
    this.programs = programs;
    this.unknown = unknown;
    this.clock = clock;
    for (const path of ['/dev', '/proc', '/tmp', '/home', '/bin']) this.files.makeDirectory(path, true);
    const { node: dev } = this.files.find('/dev');
    if (dev?.type === 'directory') dev.children.set('null', { type: 'special', kind: 'null', version: 0 });
    const uptime = { type: 'file' as const, mode: 0o444, version: 0, content: new Uint8Array() };
    Object.defineProperty(uptime, 'content', {
      get: () => Buffer.from(`${(clock.monotonicMs() / 1000).toFixed(2)} 0\n`),
    });
    this.#proc.children.set('uptime', uptime);
  }

  freeze(): void {
    this.frozen ??= new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.frozen = undefined;
    this.#thaw();
  }

  /** Starts a process; what it has open of its parent it shares. */
  start(
    parent: Pick<MachineProcess, 'pid' | 'env' | 'cwd' | 'files'>,
    argv: readonly string[],
    body: (process: MachineProcess) => Promise<number>,
    replaced: ReadonlyMap<number, OpenFile> = new Map(),
  ): MachineProcess {
    const process = new MachineProcess(this, this.#nextPid, parent.pid, argv, parent.cwd);
    this.#nextPid += 1;
    process.env = new Map(parent.env);
    for (const [fd, file] of parent.files) {
      if (replaced.has(fd)) continue;
      file.holders += 1;
      process.files.set(fd, file);
    }
    for (const [fd, file] of replaced) process.files.set(fd, file);
    this.processes.set(process.pid, process);
    this.#proc.children.set(String(process.pid), directoryNode());
    void this.#run(process, body);
    return process;
  }

  async #run(process: MachineProcess, body: (process: MachineProcess) => Promise<number>): Promise<void> {
    const code = await body(process).catch((error: unknown) => {
      if (error instanceof ProcessEnd) return error.code;
      if (error instanceof FileFailure) return 1;
      throw error;
    });
    this.processes.delete(process.pid);
    this.#proc.children.delete(String(process.pid));
    for (const orphan of this.processes.values()) if (orphan.parent === process.pid) orphan.parent = 1;
    process.ended(code);
  }

  /** A process and all that descend from it. */
  familyOf(pid: number): readonly MachineProcess[] {
    const own = this.processes.get(pid);
    const children = [...this.processes.values()].filter(({ parent }) => parent === pid);
    return [...(own ? [own] : []), ...children.flatMap((child) => this.familyOf(child.pid))];
  }

  /** Ends everything, and resolves when it has ended. */
  async endAll(): Promise<void> {
    const all = [...this.processes.values()];
    for (const process of all) process.kill(9);
    await Promise.all(all.map(({ exit }) => exit));
  }

  get #proc() {
    const { node } = this.files.find('/proc');
    if (node?.type !== 'directory') throw new Error('There is no /proc.');
    return node;
  }
}
