import { type Hosts, type KnownHost, LOCAL_HOST, type OpenedHost } from '@litterbox/core/provider';
import { HostBook } from './host-book.ts';
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

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#opening.values());
    this.#opening.clear();
    await Promise.all(
      opened.map(async (one) => {
        if (one.status === 'fulfilled') await one.value.host[Symbol.asyncDispose]();
      }),
    );
  }

  #open(name: string): Promise<OpenedHost> {
    const opening = this.#book.get(name).then((kept) => openKeptHost(kept));
    this.#opening.set(name, opening);
    opening.catch(() => this.#opening.delete(name));
    return opening;
  }
}
