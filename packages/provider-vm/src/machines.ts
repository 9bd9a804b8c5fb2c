import {
  type CallOptions,
  type Host,
  isLitterboxError,
  LitterboxError,
  type ProgressOptions,
  shown,
  visibleName,
  advice,
  step,
  type Hint,
} from '@litterbox/core/provider';
import { colima } from './colima.ts';
import { hostOf } from './host-of.ts';
import { lima } from './lima.ts';
import type { OpenedMachine, OpenMachineOptions, VirtualMachine, Way } from './way.ts';
import { wsl } from './wsl.ts';

/** A machine with the name of its host. */
export interface FoundMachine extends VirtualMachine {
  /** `lima:default`. */
  readonly host: string;
  /** Where it is, for people. */
  readonly address: string;
}

/** In which order they are looked at for who names no machine, by the system of this computer. */
const PREFERRED: Readonly<Record<string, readonly string[]>> = { darwin: ['lima', 'colima'], win32: ['wsl'] };
const DEFAULT_MACHINE = 'default';

/** The virtual machines of this computer, by names such as `lima:default`, `colima:default` and `wsl:ubuntu`. */
export class Machines {
  readonly #here: Host;
  readonly #ways: readonly Way[];

  /** @param here this computer */
  constructor(here: Host) {
    this.#here = here;
    this.#ways = [lima(here), colima(here), wsl(here)];
  }

  /** All that there are. A program that does not say what it keeps is passed over. Starts no machine. */
  async list(options?: CallOptions): Promise<readonly FoundMachine[]> {
    return (await Promise.all(this.#ways.map((way) => this.#listed(way, options)))).flat();
  }

  /**
   * The machine for who names none, on a system without Linux: of Lima before Colima on macOS, the default one of WSL2 on Windows; one that runs before
   * one that does not, then the one called `default`, then the one that is listed first.
   *
   * @returns nothing on Linux, and where there is none
   */
  async preferred(options?: CallOptions): Promise<string | undefined> {
    const { platform } = await this.#here.facts(options);
    const names = PREFERRED[platform] ?? [];
    const ways = names.flatMap((name) => this.#ways.filter((way) => way.name === name));
    const found = (await Promise.all(ways.map((way) => this.#listed(way, options)))).flat();
    const usable = found.filter(({ state, refusal }) => state !== 'other' && refusal === undefined);
    const rank = ({ state, name }: FoundMachine) => (state === 'running' ? 0 : 2) + (name === DEFAULT_MACHINE ? 0 : 1);
    return usable.toSorted((one, other) => rank(one) - rank(other))[0]?.host;
  }

  /** Starts a machine that is stopped. @throws LitterboxError `UNAVAILABLE` when it is not there, or does not start */
  async wake(host: string, options?: ProgressOptions): Promise<void> {
    const { way, machine } = await this.#find(host, options);
    if (machine.state === 'stopped') await way.start(machine, options);
  }

  /** @throws LitterboxError `UNAVAILABLE` for one that is not there, or does not run; as {@link Way.open} */
  async open(host: string, options: OpenMachineOptions): Promise<OpenedMachine> {
    const { way, machine } = await this.#find(host, options);
    if (machine.state === 'running') return await way.open(machine, options);
    throw unavailable(
      `${host} does not run: ${way.title} says that it is ${visibleName(machine.says || 'unknown')}.`,
      advice`A command that works in a sandbox starts it, and so does ${step('machine-check', { host })}.`,
    );
  }

  async #listed(way: Way, options?: CallOptions): Promise<readonly FoundMachine[]> {
    try {
      const machines = (await way.list(options)) ?? [];
      return machines.map((machine) => ({
        ...machine,
        host: hostOf(way.name, machine.name),
        address: `${way.title}, ${machine.refusal ?? (visibleName(machine.says) || 'unknown')}`,
      }));
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!isLitterboxError(error)) throw error;
      return [];
    }
  }

  async #find(host: string, options?: CallOptions): Promise<{ readonly way: Way; readonly machine: VirtualMachine }> {
    const [name = '', machineName = ''] = host.split(':');
    const way = this.#ways.find((one) => one.name === name);
    if (!way) {
      throw new LitterboxError('NOT_FOUND', `There is no host ${shown(host)}.`, {
        operation: 'host.open',
        hint: `Before the colon stands one of: ${this.#ways.map((one) => one.name).join(', ')}.`,
      });
    }
    const setup = `Set it up once: ${way.setup(machineName)}.`;
    const machines = await way.list(options);
    if (!machines) throw unavailable(`${host} cannot be reached: ${way.title} is not installed.`, setup);
    const alike = machines.filter((machine) => hostOf(way.name, machine.name) === host);
    const [machine] = alike;
    if (!machine) {
      const there = machines.map((one) => hostOf(way.name, one.name)).join(', ');
      throw unavailable(
        `${way.title} has no machine ${shown(machineName)}.`,
        there === '' ? setup : `There are: ${there}. Or: ${way.setup(machineName)}.`,
      );
    }
    if (alike.length > 1)
      throw unavailable(
        `${way.title} has several machines that differ from ${shown(machineName)} by capitals alone.`,
        'Rename one of them.',
      );
    if (machine.refusal !== undefined) throw unavailable(`${host} cannot be used: ${machine.refusal}.`, setup);
    return { way, machine };
  }
}

const unavailable = (message: string, hint: Hint) =>
  new LitterboxError('UNAVAILABLE', message, { operation: 'host.open', hint });
