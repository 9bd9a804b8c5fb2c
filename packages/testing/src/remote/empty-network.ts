import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';

/**
 * Holds a network until its stdin ends, which it does with the program that made it, and ends then whatever else runs there. `$1` is the network of this
 * machine, in which nothing is ever ended.
 */
const HOLD = `own=$(readlink /proc/self/ns/net)
[ "$own" != "$1" ] && ip link set lo up && echo held || exit 1
read -r line
for place in /proc/[0-9]*; do
[ "$place" != /proc/$$ ] && [ "$(readlink "$place/ns/net")" = "$own" ] && kill -s KILL "\${place#/proc/}"
done
# A connection that its machine has not closed would keep it for minutes.
ip -o link show type veth | while IFS=': @' read -r number name rest; do ip link delete "$name"; done`;

/**
 * A network namespace that nothing joins to another one. It ends with the program that made it, and so does all that runs there, so that nothing is left
 * whatever happens. Only root can make it.
 */
export class EmptyNetwork implements AsyncDisposable {
  /** Of the process that holds it: `/proc/PID/ns/net` is the namespace. */
  readonly pid: number;
  readonly #identity: string;
  readonly #end: () => Promise<unknown>;

  private constructor(pid: number, identity: string, end: () => Promise<unknown>) {
    this.pid = pid;
    this.#identity = identity;
    this.#end = end;
  }

  static async open(): Promise<EmptyNetwork> {
    const argv = ['--net', 'sh', '-c', HOLD, 'sh', readlinkSync('/proc/self/ns/net')];
    const holder = spawn('unshare', argv, { stdio: ['pipe', 'pipe', 'ignore'] });
    const closed = once(holder, 'close');
    await Promise.race([once(holder.stdout, 'data'), closed]);
    const pid = holder.pid ?? -1;
    const identity = networkOf(pid);
    if (holder.exitCode !== null || identity === undefined)
      throw new Error('There is no network namespace: only root can make one.');
    return new EmptyNetwork(pid, identity, () => {
      holder.stdin.end();
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

  /** What runs in it, besides what holds it. */
  pids(): readonly number[] {
    return readdirSync('/proc')
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== this.pid && networkOf(pid) === this.#identity);
  }

  /** Ends whatever still runs in it. */
  async [Symbol.asyncDispose](): Promise<void> {
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
