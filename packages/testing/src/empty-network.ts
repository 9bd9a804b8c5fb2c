import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';

/**
 * A network namespace that nothing joins to another one. A process holds it that ends with the program that made it, so that nothing is left
 * whatever happens. Only root can make it.
 */
export class EmptyNetwork implements AsyncDisposable {
  /** Of the process that holds it: `/proc/PID/ns/net` is the namespace. */
  readonly pid: number;
  readonly #identity: string;
  readonly #end: () => Promise<unknown>;
  #isOver = false;

  private constructor(pid: number, identity: string, end: () => Promise<unknown>) {
    this.pid = pid;
    this.#identity = identity;
    this.#end = end;
  }

  static async open(): Promise<EmptyNetwork> {
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'ip link set lo up && echo held; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const closed = once(holder, 'close');
    await Promise.race([once(holder.stdout, 'data'), closed]);
    const pid = holder.pid ?? -1;
    const identity = networkOf(pid);
    // Whatever runs in it is ended, which must never be this machine.
    if (identity === undefined || identity === networkOf(process.pid))
      throw new Error('There is no network namespace: only root can make one.');
    return new EmptyNetwork(pid, identity, () => {
      holder.kill('SIGKILL');
      return closed;
    });
  }

  /** The command line that runs a program in this network, with the mounts of this machine. */
  enter(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
    return ['nsenter', `--net=/proc/${this.pid}/ns/net`, ...argv];
  }

  /** Runs a program in this network. @returns what it printed */
  run(...argv: readonly [string, ...string[]]): string {
    const [program, ...args] = this.enter(argv);
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  }

  /** Ends whatever still runs in it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const name of readdirSync('/proc'))
      if (/^[0-9]+$/.test(name) && networkOf(Number(name)) === this.#identity) endQuietly(Number(name));
    await this.#end();
  }
}

function networkOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined; // it has ended
  }
}

function endQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
