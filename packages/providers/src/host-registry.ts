import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hostNames, isHostName, LitterboxError, LOCAL_HOST, shown, advice, step } from '@litterbox/core/provider';
import { isMachineName } from './is-machine-name.ts';

/** A machine of the user's, as it is kept. */
export interface SavedHost {
  /** As it stands behind the `@` of a provider's key. */
  readonly name: string;
  /** `[USER@]HOST[:PORT]`. */
  readonly destination: string;
  /** Absolute path of the private key that is tried first. */
  readonly identityFile?: string;
  /** Keys that a person said yes to. */
  readonly hostKeys: readonly { readonly type: string; readonly key: string; readonly fingerprint: string }[];
  /** What it said that it is when it was first reached. */
  readonly machineId?: string;
}

interface Book {
  readonly hosts: readonly SavedHost[];
  readonly preferred: readonly string[];
}

/** No book is larger, unless somebody else wrote it. */
const MAX_BOOK_BYTES = 4 * 2 ** 20;
const VERSION = 1;

/**
 * The machines of a user, in a file of the user's state: what a repository says cannot add one, and cannot change where a name leads.
 * A book that is not there is empty.
 */
export class HostRegistry {
  readonly #file: string;

  /** @param stateDirectory absolute path */
  constructor(stateDirectory: string) {
    this.#file = `${stateDirectory}/hosts.json`;
  }

  /** @throws LitterboxError `STATE_CORRUPT`, `STATE_TOO_NEW` */
  async list(): Promise<readonly SavedHost[]> {
    return (await this.#read()).hosts;
  }

  /** Names of the machines that are taken when nobody names one; none where the person has chosen none. */
  async preferred(): Promise<readonly string[]> {
    return (await this.#read()).preferred;
  }

  /**
   * Sets them; none takes the choice back.
   *
   * @throws LitterboxError `INVALID_ARGUMENT` for what is no name; `NOT_FOUND` for one that is in no book
   */
  async prefer(names: readonly string[]): Promise<readonly string[]> {
    const preferred = names.length === 0 ? [] : hostNames(names);
    for (const name of preferred) if (name !== LOCAL_HOST && !isMachineName(name)) await this.get(name);
    const { hosts } = await this.#read();
    await this.#write({ hosts, preferred });
    return preferred;
  }

  /** @throws LitterboxError `NOT_FOUND`, with the machines that there are */
  async get(name: string): Promise<SavedHost> {
    const hosts = await this.list();
    const found = hosts.find((host) => host.name === name);
    if (found) return found;
    throw new LitterboxError('NOT_FOUND', `There is no host ${shown(name)}.`, {
      operation: 'host.open',
      hint: advice`${hosts.length === 0 ? '' : `There are: ${hosts.map((host) => host.name).join(', ')}. `}Add it: ${step('host-add', { name: isHostName(name) && !isMachineName(name) ? name : 'NAME' })}.`,
    });
  }

  /** @throws LitterboxError `INVALID_ARGUMENT` for what cannot be the name of a machine that a person adds */
  assertName(name: string): void {
    if (isHostName(name) && name !== LOCAL_HOST && !isMachineName(name)) return;
    throw new LitterboxError('INVALID_ARGUMENT', `A host cannot be called ${shown(name)}.`, {
      operation: 'host.add',
      hint: `Take at most 63 small letters, digits, dots, hyphens and underscores; ${LOCAL_HOST} is this machine, and names with a colon are those of its virtual machines.`,
    });
  }

  /** Adds a machine, or replaces the one of that name. */
  async put(host: SavedHost): Promise<void> {
    if (!isHostName(host.name) || host.name === LOCAL_HOST) this.assertName(host.name);
    const { hosts, preferred } = await this.#read();
    const others = hosts.filter(({ name }) => name !== host.name);
    const sorted = [...others, host].sort((left, right) => (left.name < right.name ? -1 : 1));
    await this.#write({ hosts: sorted, preferred });
  }

  /** @throws LitterboxError `NOT_FOUND` */
  async remove(name: string): Promise<SavedHost> {
    const host = await this.get(name);
    const { hosts, preferred } = await this.#read();
    // A virtual machine is there without an entry.
    const left = isMachineName(name) ? preferred : preferred.filter((one) => one !== name);
    await this.#write({ hosts: hosts.filter((one) => one.name !== name), preferred: left });
    return host;
  }

  /** A reader sees the book before or after, and a full disk leaves it as it was. */
  async #write({ hosts, preferred }: Book): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const temporary = `${this.#file}.${crypto.randomUUID()}.tmp`;
    try {
      await using file = await open(temporary, 'wx', 0o600);
      await file.writeFile(
        `${JSON.stringify({ version: VERSION, hosts, ...(preferred.length > 0 && { preferred }) }, undefined, 2)}\n`,
      );
      await file.sync();
      await rename(temporary, this.#file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async #read(): Promise<Book> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { hosts: [], preferred: [] };
      throw error;
    }
    return this.#parse(text);
  }

  #parse(text: string): Book {
    try {
      if (text.length > MAX_BOOK_BYTES) throw new Error('it is too large');
      const book = JSON.parse(text) as { readonly [Key in 'version' | 'hosts' | 'preferred']?: unknown };
      if (typeof book.version === 'number' && book.version > VERSION) throw this.#tooNew();
      if (!Array.isArray(book.hosts)) throw new Error('it has no list of hosts');
      const { preferred = [] } = book;
      if (!Array.isArray(preferred) || !preferred.every((name) => typeof name === 'string' && isHostName(name)))
        throw new Error('the preferred hosts are not names');
      return { hosts: book.hosts.map(keptHost), preferred };
    } catch (error) {
      if (error instanceof LitterboxError) throw error;
      throw new LitterboxError('STATE_CORRUPT', `${this.#file} cannot be read: ${(error as Error).message}.`, {
        operation: 'host.list',
        hint: advice`Move the file away, and add the hosts again: ${step('host-add')}.`,
      });
    }
  }

  #tooNew(): LitterboxError {
    return new LitterboxError('STATE_TOO_NEW', `${this.#file} was written by a newer Litterbox.`, {
      operation: 'host.list',
      hint: 'Update Litterbox.',
    });
  }
}

function keptHost(value: unknown): SavedHost {
  const { name, destination, identityFile, hostKeys, machineId } = value as Readonly<Record<string, unknown>>;
  const isText = (one: unknown): one is string => typeof one === 'string';
  const isAbsentOrText = (one: unknown): one is string | undefined => one === undefined || isText(one);
  if (!isText(name) || !isText(destination) || !isAbsentOrText(identityFile) || !isAbsentOrText(machineId))
    throw new Error('a host lacks its name or destination');
  if (!Array.isArray(hostKeys)) throw new Error(`the keys of ${name} are not a list`);
  return {
    name,
    destination,
    hostKeys: hostKeys.map((one: Readonly<Record<string, unknown>>) => {
      const { type, key, fingerprint } = one;
      if (!isText(type) || !isText(key) || !isText(fingerprint)) throw new Error(`a key of ${name} is not a key`);
      return { type, key, fingerprint };
    }),
    ...(identityFile !== undefined && { identityFile }),
    ...(machineId !== undefined && { machineId }),
  };
}
