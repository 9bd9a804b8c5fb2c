import { decodeRaw, encodeRaw } from '@litterbox/core';
import type { PersonalRepository } from '@litterbox/memory';

/** The person's repository in memory: a work tree on the branch `main`. */
export interface MemoryRepository {
  /** Its path, which is nowhere on this machine. */
  readonly root: string;
  /** The paths of all files of the work tree, sorted. */
  paths(): readonly string[];
  /** A file of the work tree as text. Nothing where there is none. */
  read(path: string): string | undefined;
  /** A file's bytes. Nothing where there is none. */
  readBytes(path: string): Uint8Array | undefined;
  /** Writes a file of the work tree, as the person does in an editor. */
  write(path: string, content: string | Uint8Array): void;
  /** Commits all of it, as the person. */
  commit(message?: string): void;
  /** Subjects of the commits that the branch came from, newest first, along first parents. */
  log(): readonly string[];
}

/** Gives what a test may do with the repository of a person in memory. */
export function memoryRepository(person: PersonalRepository): MemoryRepository {
  return {
    root: person.root,
    paths: () => [...person.work.keys()].sort(),
    read: (path) => person.read(path),
    readBytes: (path) => person.work.get(path)?.content.slice(),
    write: (path, content) => person.write(path, typeof content === 'string' ? content : decodeRaw(content)),
    commit: (message) => void person.commit(message),
    log() {
      const subjects: string[] = [];
      for (let commit = person.head; commit; ) {
        subjects.push(commit.message.split('\n')[0] ?? '');
        const [parent] = commit.parents;
        commit = parent && person.commits.get(parent);
      }
      return subjects;
    },
  };
}

/** Text as the files in memory have it. */
export const rawText = (content: string | Uint8Array): string =>
  decodeRaw(typeof content === 'string' ? encodeRaw(content) : content);
