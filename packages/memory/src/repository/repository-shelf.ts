import { encodeRaw, RepositoryId } from '@litterbox/core/provider';
import { putFile } from './file-tree.ts';
import type { KeptRepository } from './memory-repository.ts';
import { PersonalRepository } from './personal-repository.ts';

/** A file that a repository begins with. */
export interface FirstFile {
  readonly path: string;
  readonly content?: string;
  readonly executable?: boolean;
  readonly linkTarget?: string;
}

/** The repositories of a person, by the paths of their work trees. In the place of a disk. */
export class RepositoryShelf {
  readonly kept: KeptRepository[] = [];

  /** A repository with one commit that holds these files. */
  add(files: readonly FirstFile[], root = `/home/person/project-${this.kept.length + 1}`): PersonalRepository {
    const person = new PersonalRepository(root);
    for (const { path, content = '', executable = false, linkTarget } of files)
      putFile(person.work, path, {
        type: linkTarget === undefined ? 'file' : 'symlink',
        isExecutable: executable,
        content: encodeRaw(linkTarget ?? content),
      });
    person.commit('one');
    this.kept.push({ id: RepositoryId.make(), person, histories: new Map(), isPersons: true });
    return person;
  }

  /** The one that is nobody's, made by the first call. */
  own(): KeptRepository {
    const found = this.kept.find(({ isPersons }) => !isPersons);
    if (found) return found;
    const person = new PersonalRepository('/memory/own-repository');
    person.commit('Nothing');
    const own = { id: RepositoryId.make(), person, histories: new Map(), isPersons: false };
    this.kept.push(own);
    return own;
  }

  /** The one whose work tree holds the path. */
  find(path: string): KeptRepository | undefined {
    return this.kept.find(({ person: { root } }) => path === root || path.startsWith(`${root}/`));
  }
}
