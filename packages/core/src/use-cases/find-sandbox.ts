import { LitterboxError } from '../domain/errors.ts';
import { shown } from '../domain/shown.ts';
import { slugify } from '../domain/slug.ts';
import type { CallOptions } from '../ports/call.ts';
import type { SandboxRecord, StateStore } from '../ports/state-store.ts';
import type { OpenRepository } from './open-repository.ts';

/** Longest list of names that an error repeats. */
const MAX_NAMES = 10;

/** The record of the sandbox of that name in this repository. */
export class FindSandbox {
  readonly #state: StateStore;
  readonly #repository: OpenRepository;

  constructor(state: StateStore, repository: OpenRepository) {
    this.#state = state;
    this.#repository = repository;
  }

  /** @throws LitterboxError `SANDBOX_NOT_FOUND`, and what `slugify` throws. */
  async execute(name: string, options?: CallOptions): Promise<SandboxRecord> {
    const { slug } = slugify(name);
    const { id } = await this.#repository.execute(options);
    const record = await this.#state.find(id, slug, options);
    if (record) return record;
    const names = (await this.#state.list(id, options)).map((one) => one.slug);
    const list =
      names.slice(0, MAX_NAMES).join(', ') + (names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '');
    throw new LitterboxError('SANDBOX_NOT_FOUND', `There is no sandbox ${shown(slug)} in this repository.`, {
      operation: 'sandbox.find',
      hint: names.length === 0 ? 'Make one: litterbox create NAME.' : `There are: ${list}.`,
    });
  }
}
