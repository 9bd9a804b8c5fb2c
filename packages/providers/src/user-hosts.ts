import {
  type CallOptions,
  type Hosts,
  type KnownHost,
  LOCAL_HOST,
  type OpenedHost,
  type ProgressOptions,
} from '@litterbox/core/provider';
import { HostRegistry, type SavedHost } from './host-registry.ts';
import { isMachineName } from './is-machine-name.ts';
import { LateMachines } from './late-machines.ts';
import { openSavedHost } from './open-saved-host.ts';
import { openMachine } from './open-machine.ts';

/**
 * This machine, those in the user's book, and the virtual machines of this computer. Nobody is asked anything: a machine whose key is not known is
 * refused, with the command that adds it.
 *
 * @param here this machine, and the state directory, which holds the book
 */
export function userHosts(here: OpenedHost): Hosts {
  return new UserHosts(here);
}

class UserHosts implements Hosts {
  readonly #here: OpenedHost;
  readonly #book: HostRegistry;
  readonly #machines: LateMachines;
  readonly #opening = new Map<string, Promise<OpenedHost>>();
  readonly #opened = new Set<OpenedHost>();
  readonly #over = new AbortController();

  constructor(here: OpenedHost) {
    this.#here = here;
    this.#book = new HostRegistry(here.directory);
    this.#machines = new LateMachines(here.host);
  }

  async list(options?: CallOptions): Promise<readonly KnownHost[]> {
    const [kept, found] = await Promise.all([
      this.#book.list(),
      this.#machines.load().then((machines) => machines.list(options)),
    ]);
    return [
      { name: LOCAL_HOST, address: 'this machine' },
      ...kept
        .filter(({ name }) => !isMachineName(name))
        .map(({ name, destination, machineId }) => ({
          name,
          address: `ssh://${destination}`,
          ...(machineId !== undefined && { machineId }),
        })),
      ...found.map(({ host, address }) => ({ name: host, address })),
    ];
  }

  async open(name: string, options?: CallOptions): Promise<OpenedHost> {
    options?.signal?.throwIfAborted();
    if (name === LOCAL_HOST) return this.#here;
    // Several wait for one connection, which is no one caller's to give up.
    const opening = this.#opening.get(name) ?? this.#open(name);
    return await opening;
  }

  async wake(name: string, options?: ProgressOptions): Promise<void> {
    if (!isMachineName(name) || this.#opening.has(name)) return;
    await (await this.#machines.load()).wake(name, options);
  }

  async preferred(options?: CallOptions): Promise<readonly string[]> {
    const chosen = await this.#book.preferred();
    if (chosen.length > 0) return chosen;
    const { platform } = await this.#here.host.facts(options);
    if (platform === 'linux') return [];
    const machine = await (await this.#machines.load()).preferred(options);
    return machine === undefined ? [] : [machine];
  }

  /** Waits for no machine that has not answered. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error('The hosts were closed.'));
    this.#opening.clear();
    await Promise.all([...this.#opened].map(({ host }) => host[Symbol.asyncDispose]()));
  }

  #open(name: string): Promise<OpenedHost> {
    const opening = this.#reach(name);
    this.#opening.set(name, opening);
    opening.catch(() => this.#opening.delete(name));
    return opening;
  }

  async #reach(name: string): Promise<OpenedHost> {
    const { signal } = this.#over;
    const reached = isMachineName(name)
      ? await this.#reachMachine(name, signal)
      : await openSavedHost(await this.#book.get(name), { signal });
    if (signal.aborted) await reached.host[Symbol.asyncDispose]();
    signal.throwIfAborted();
    this.#opened.add(reached);
    return reached;
  }

  /** What a machine shows when it is first reached is kept, and has to come again. */
  async #reachMachine(name: string, signal: AbortSignal): Promise<OpenedHost> {
    const known: SavedHost | undefined = (await this.#book.list()).find((host) => host.name === name);
    const reached = await openMachine(await this.#machines.load(), name, known, { signal });
    const isNew = JSON.stringify(reached.kept) !== JSON.stringify(known);
    if (isNew) await this.#book.put(reached.kept);
    return reached;
  }
}
