import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { EmptyNetwork } from './empty-network.ts';

/** RFC 2544 keeps 198.18.0.0/15 for tests of links; each network here has four addresses of its upper half. */
const LINKS = 2 ** 14;
/** How `ip` tells that a name is taken, and that there is none. */
const IS_TAKEN = /File exists/;
const IS_GONE = /Cannot find device/;

/**
 * The network of a machine that a test plays: a namespace that one link joins to this machine, without a route to anywhere else. The loopback there is
 * another one than here. Only root can make it.
 */
export class MachineNetwork implements AsyncDisposable {
  /** Of that machine on the link. */
  readonly address: string;
  /** Of this machine on the link. */
  readonly nearAddress: string;
  /** What the link is called there. */
  readonly device = 'link0';
  readonly #network: EmptyNetwork;
  readonly #nearDevice: string;
  #isOver = false;

  private constructor(network: EmptyNetwork, number: number) {
    this.#network = network;
    this.#nearDevice = nearDeviceOf(number);
    [this.nearAddress, this.address] = addressesOf(number);
  }

  /** @param network what is joined to this machine, which goes with it. @defaultValue an empty one */
  static async open(network?: EmptyNetwork): Promise<MachineNetwork> {
    const joined = network ?? (await EmptyNetwork.open());
    try {
      const made = new MachineNetwork(joined, claimLink(joined));
      ip('address', 'add', `${made.nearAddress}/30`, 'dev', made.#nearDevice);
      ip('link', 'set', made.#nearDevice, 'up');
      made.run('ip', 'address', 'add', `${made.address}/30`, 'dev', made.device);
      made.run('ip', 'link', 'set', made.device, 'up');
      return made;
    } catch (error) {
      await joined[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The command line that runs a program in this network, with the mounts of this machine. */
  enter(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
    return this.#network.enter(argv);
  }

  /** Runs a program in this network. @returns what it printed */
  run(...argv: readonly [string, ...string[]]): string {
    return this.#network.run(...argv);
  }

  /** The names of what runs in it. */
  programs(): readonly string[] {
    return this.#network.pids().map(nameOf);
  }

  /** Takes the cable out, or puts it in again. Nobody is told. */
  setLink(state: 'up' | 'down'): void {
    this.run('ip', 'link', 'set', this.device, state);
  }

  /**
   * From now on packets of TCP on the link are dropped, in both directions, and nobody is told.
   *
   * @param match what chooses some of them, in words of iptables(8). @defaultValue all
   */
  drop(...match: readonly string[]): void {
    this.#filter(['INPUT', '--in-interface'], ['DROP', ...match]);
    this.#filter(['OUTPUT', '--out-interface'], ['DROP', ...match]);
  }

  /** From now on every packet of TCP that comes over the link is answered: its connection is reset, or nobody is there. */
  refuse(how: 'tcp-reset' | 'icmp-host-unreachable'): void {
    this.#filter(['INPUT', '--in-interface'], ['REJECT', '--reject-with', how]);
  }

  /** Lets everything pass again. */
  pass(): void {
    this.run('iptables', '--wait', '--flush');
  }

  #filter(chain: readonly [name: string, side: string], target: readonly string[]): void {
    this.run('iptables', '--wait', '--append', ...chain, this.device, '--protocol', 'tcp', '--jump', ...target);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true; // the name may be another's from now on
    // Either end takes the other with it. A process that has not ended yet keeps the namespace, and with it the link.
    try {
      ip('link', 'delete', this.#nearDevice);
    } catch (error) {
      if (!IS_GONE.test(String(error))) throw error;
    } finally {
      await this.#network[Symbol.asyncDispose]();
    }
  }
}

/** The kernel gives a name once: whoever gets it has the addresses of that number. @returns the number */
function claimLink({ pid }: EmptyNetwork): number {
  for (let attempt = 0; attempt < LINKS; attempt += 1) {
    const number = (process.pid + attempt) % LINKS;
    const args = ['link', 'add', nearDeviceOf(number), 'type', 'veth', 'peer', 'name', 'link0', 'netns', String(pid)];
    const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
    if (status === 0) return number;
    if (!IS_TAKEN.test(stderr)) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
  }
  throw new Error('No link is free.');
}

const nearDeviceOf = (number: number) => `lbfar-${number}`;

function addressesOf(number: number): readonly [near: string, far: string] {
  const at = (offset: number) => `198.19.${Math.floor((number * 4) / 256)}.${((number * 4) % 256) + offset}`;
  return [at(1), at(2)];
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return ''; // it has ended
  }
}

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}
