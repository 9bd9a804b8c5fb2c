import { type Clock, decodeRaw, encodeRaw } from '@litterbox/core/provider';
import type { MemoryFiles } from './memory-files.ts';
import { close, type OpenFile } from './open-file.ts';

/** A program in a machine: gives its exit code. */
export type Program = (process: MachineProcess, args: readonly string[]) => Promise<number>;

/** What processes see of the machine that they are in. */
export interface Machine {
  readonly files: MemoryFiles;
  readonly processes: ReadonlyMap<number, MachineProcess>;
  readonly programs: ReadonlyMap<string, Program>;
  /** Runs a program of a caller's command that is not here, its name before its arguments. */
  readonly unknown: Program | undefined;
  readonly clock: Clock;
  /** Resolves when the processes may go on; absent while they may. */
  readonly frozen: Promise<void> | undefined;
  /** Starts a process; what it has open of its parent it shares. */
  start(
    parent: Pick<MachineProcess, 'pid' | 'env' | 'cwd' | 'files'>,
    argv: readonly string[],
    body: (process: MachineProcess) => Promise<number>,
    replaced?: ReadonlyMap<number, OpenFile>,
  ): MachineProcess;
  /** A process and all that descend from it. */
  familyOf(pid: number): readonly MachineProcess[];
}

/** The process ends where it is, with this code. */
export class ProcessEnd extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`ended with ${code}`);
    this.code = code;
  }
}

const SIGPIPE_CODE = 141;
/** After so many steps the others of this program get their turn. */
const STEPS_PER_TURN = 200;

/** One process of a machine in memory: what it has open, where it is, and who started it. */
export class MachineProcess {
  readonly pid: number;
  readonly machine: Machine;
  parent: number;
  argv: readonly string[];
  env: Map<string, string>;
  cwd: string;
  readonly files = new Map<number, OpenFile>();
  /** Resolves when it has ended. */
  readonly exit: Promise<number>;
  #steps = 0;
  #killCode: number | undefined;
  #kill: (error: ProcessEnd) => void = () => {};
  #end: (code: number) => void = () => {};
  readonly #killed: Promise<never>;

  constructor(machine: Machine, pid: number, parent: number, argv: readonly string[], cwd: string) {
    this.machine = machine;
    this.pid = pid;
    this.parent = parent;
    this.argv = argv;
    this.cwd = cwd;
    this.env = new Map();
    this.exit = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#killed = new Promise((_, reject) => {
      this.#kill = reject;
    });
    this.#killed.catch(() => {});
  }

  get isKilled(): boolean {
    return this.#killCode !== undefined;
  }

  kill(signalNumber: number): void {
    if (this.isKilled) return;
    this.#killCode = 128 + signalNumber;
    this.#kill(new ProcessEnd(this.#killCode));
  }

  /** Waits for something; a signal or a pause comes between. */
  async wait<Value>(what: Promise<Value>): Promise<Value> {
    const value = await Promise.race([what, this.#killed]);
    await this.step();
    return value;
  }

  /** A point at which the process can be frozen or ended. */
  async step(): Promise<void> {
    if (this.#killCode !== undefined) throw new ProcessEnd(this.#killCode);
    this.#steps += 1;
    if (this.#steps % STEPS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    while (this.machine.frozen) await Promise.race([this.machine.frozen, this.#killed]);
    if (this.#killCode !== undefined) throw new ProcessEnd(this.#killCode);
  }

  async write(fd: number, text: string | Uint8Array): Promise<void> {
    const bytes = typeof text === 'string' ? encodeRaw(text) : text;
    const file = this.files.get(fd);
    if (file && !(await this.wait(file.write(bytes)))) throw new ProcessEnd(SIGPIPE_CODE);
  }

  async read(fd = 0, maxBytes?: number): Promise<Uint8Array | undefined> {
    const file = this.files.get(fd);
    return file && (await this.wait(file.read(maxBytes)));
  }

  async readAll(fd = 0): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (let part = await this.read(fd); part; part = await this.read(fd)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** Up to a newline, which goes; nothing at the end. */
  async readLine(fd = 0): Promise<string | undefined> {
    const bytes: number[] = [];
    for (let part = await this.read(fd, 1); part; part = await this.read(fd, 1)) {
      const [byte = 0] = part;
      if (byte === 10) return decodeRaw(Uint8Array.from(bytes));
      bytes.push(byte);
    }
    return bytes.length > 0 ? decodeRaw(Uint8Array.from(bytes)) : undefined;
  }

  /** Puts something in the place of a descriptor. */
  attach(fd: number, file: OpenFile | undefined): void {
    const before = this.files.get(fd);
    if (file) this.files.set(fd, file);
    else this.files.delete(fd);
    close(before);
  }

  path(path: string): string {
    return path.startsWith('/') ? path : `${this.cwd}/${path}`;
  }

  /** Called once, by the machine. */
  ended(code: number): void {
    for (const file of this.files.values()) close(file);
    this.files.clear();
    this.#end(code);
  }
}
