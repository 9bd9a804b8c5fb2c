import { type Hosts, type KnownHost, LOCAL_HOST, type OpenedHost } from '@litterbox/core/provider';
import { HostBook, type KeptHost } from './host-book.ts';
import { openKeptHost } from './open-kept-host.ts';

/**
 * This machine, and those in the user's book. Nobody is asked anything: a machine whose key is not known is refused, with the command that adds it.
 *
 * @param here this machine, and the state directory, which holds the book
 */
export function userHosts(here: OpenedHost): Hosts {
  return new UserHosts(here);
}

class UserHosts implements Hosts {
  readonly #here: OpenedHost;
  readonly #book: HostBook;
  readonly #opening = new Map<string, Promise<OpenedHost>>();
  readonly #opened = new Set<OpenedHost>();
  readonly #over = new AbortController();

  constructor(here: OpenedHost) {
    this.#here = here;
    this.#book = new HostBook(here.directory);
  }

  async list(): Promise<readonly KnownHost[]> {
    const kept = await this.#book.list();
    return [
      { name: LOCAL_HOST, address: 'this machine' },
      ...kept.map(({ name, destination, machineId }) => ({
        name,
        address: `ssh://${destination}`,
        ...(machineId !== undefined && { machineId }),
      })),
    ];
  }

  async open(name: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<OpenedHost> {
    options?.signal?.throwIfAborted();
    if (name === LOCAL_HOST) return this.#here;
    // Several wait for one connection, which is no one caller's to give up.
    const opening = this.#opening.get(name) ?? this.#open(name);
    return await opening;
  }

  /** Waits for no machine that has not answered. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error('The hosts were closed.'));
    this.#opening.clear();
    await Promise.all([...this.#opened].map(({ host }) => host[Symbol.asyncDispose]()));
  }

  #open(name: string): Promise<OpenedHost> {
    const opening = this.#book.get(name).then(async (kept) => await this.#reach(kept));
    this.#opening.set(name, opening);
    opening.catch(() => this.#opening.delete(name));
    return opening;
  }

  async #reach(kept: KeptHost): Promise<OpenedHost> {
    const { signal } = this.#over;
    const reached = await openKeptHost(kept, { signal });
    if (signal.aborted) await reached.host[Symbol.asyncDispose]();
    signal.throwIfAborted();
    this.#opened.add(reached);
    return reached;
  }
}
