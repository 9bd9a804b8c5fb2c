import { type CallOptions, type Host, LitterboxError, type ProviderKey, SandboxId } from '@litterbox/core/provider';
import { isAbsolutePath, isObjectOf, UNFINISHED } from '@litterbox/linux-sandbox';
import type { FilesRecord } from '../far-files/file-access-container.ts';

/** What is known of an engine: that it sees the host's files, or where it has its own. */
export type Place = { readonly version: 1; readonly sees: true } | FilesRecord;

/** A place in the volume of an engine. */
export interface KnownFiles {
  /** Names the engine. */
  readonly key: string;
  readonly record: FilesRecord;
}

const FILE = 'place.json';
const SANDBOXES = 'sandboxes';

export function isOwn(place: Place): place is FilesRecord {
  return !('sees' in place);
}

function isPlace(value: unknown): value is Place {
  if (!isObjectOf(value, () => true)) return false;
  const { version, sees, name, directory, imageId, address } = value as Readonly<Record<string, unknown>>;
  if (version !== 1) return false;
  if (sees !== undefined) return sees === true;
  const isAddress = address === undefined || typeof address === 'string';
  return typeof name === 'string' && typeof imageId === 'string' && isAbsolutePath(directory) && isAddress;
}

/**
 * What is known on the host of the engines that were ever used from there, a directory for each: `place.json`, and `sandboxes` with a
 * file for each sandbox whose files are on that engine. A program that reaches another engine knows by it what it does not see.
 */
export class SandboxLocations {
  readonly #provider: ProviderKey;
  readonly #host: Host;
  readonly #directory: string;

  /** @param directory absolute path on the host; it need not be there */
  constructor(provider: ProviderKey, host: Host, directory: string) {
    this.#provider = provider;
    this.#host = host;
    this.#directory = directory;
  }

  /** Where what is known of one engine is. */
  directoryOf(key: string): string {
    return `${this.#directory}/${key}`;
  }

  /** @throws LitterboxError `STATE_CORRUPT` */
  async read(key: string, options?: CallOptions): Promise<Place | undefined> {
    const path = `${this.directoryOf(key)}/${FILE}`;
    const bytes = await this.#host.files.read(path, options);
    if (!bytes) return undefined;
    try {
      const place: unknown = JSON.parse(new TextDecoder().decode(bytes));
      if (isPlace(place)) return place;
    } catch {
      // said below
    }
    throw new LitterboxError('STATE_CORRUPT', `Litterbox cannot read the description of the engine (${path}).`, {
      operation: 'provider.open',
      provider: this.#provider,
      hint: 'Remove that directory: Litterbox asks the engine again.',
    });
  }

  /** All engines that have files of their own. */
  async files(options?: CallOptions): Promise<readonly KnownFiles[]> {
    const names = (await this.#host.files.list(this.#directory, options)) ?? [];
    const places = await Promise.all(
      names.map(async ({ name }) => ({ key: name, place: await this.read(name, options) })),
    );
    return places.flatMap(({ key, place }) => (place && isOwn(place) ? [{ key, record: place }] : []));
  }

  /** @returns what was written, or what another program wrote first */
  async keep(key: string, place: Place, options?: CallOptions): Promise<Place> {
    // A directory that holds something is not replaced: of two that decide at once, one is right.
    const unfinished = `${this.#directory}/${UNFINISHED}${crypto.randomUUID()}`;
    await this.#host.files.makeDirectory(unfinished, { ...options, mode: 0o700 });
    await this.#host.files.write(`${unfinished}/${FILE}`, new TextEncoder().encode(JSON.stringify(place)), options);
    try {
      await this.#host.files.rename(unfinished, this.directoryOf(key));
      return place;
    } catch (error) {
      await this.#host.files.remove(unfinished);
      const first = await this.read(key);
      if (!first) throw error;
      return first;
    }
  }

  /** From now on the sandbox counts as one of that engine. */
  async note(key: string, id: SandboxId, options?: CallOptions): Promise<void> {
    const directory = `${this.directoryOf(key)}/${SANDBOXES}`;
    await this.#host.files.makeDirectory(directory, { ...options, mode: 0o700 });
    await this.#host.files.write(`${directory}/${id}`, new Uint8Array(), options);
  }

  async forget(key: string, id: SandboxId): Promise<void> {
    await this.#host.files.remove(`${this.directoryOf(key)}/${SANDBOXES}/${id}`);
  }

  /** The sandboxes of an engine, as far as they were noted. */
  async sandboxes(key: string, options?: CallOptions): Promise<readonly SandboxId[]> {
    const names = (await this.#host.files.list(`${this.directoryOf(key)}/${SANDBOXES}`, options)) ?? [];
    return names.flatMap(({ name }) => (SandboxId.is(name) ? [name] : []));
  }
}
