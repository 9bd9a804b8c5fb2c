import { RepositoryFixture } from '@litterbox/testing';
import { createLitterbox, type Litterbox, type LitterboxOptions } from '../src/index.ts';
import { provider } from './provider.ts';

/** A repository, a state directory and the Litterboxes opened on them; all gone at the end. */
export class LibraryFixture extends RepositoryFixture {
  readonly #opened: Litterbox[] = [];

  constructor(files?: Readonly<Record<string, string>>) {
    super(files);
    this.defer(async () => {
      const last = this.open();
      for (const { name } of await last.list()) await last.delete(name, { force: true });
      for (const litterbox of this.#opened) await litterbox[Symbol.asyncDispose]();
    });
  }

  /** One more program on the same repository and state. */
  readonly open = (options?: Partial<LitterboxOptions>): Litterbox => {
    const { repository, stateDirectory } = this;
    const litterbox = createLitterbox({ repo: repository, providers: [provider], stateDirectory, ...options });
    this.#opened.push(litterbox);
    return litterbox;
  };
}
