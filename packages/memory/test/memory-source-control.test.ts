import { describe, it } from '@jest/globals';
import { describeSourceControl } from '@litterbox/conformance';
import { memorySourceControl, realClock, RepositoryShelf } from '../src/index.ts';

const shelf = new RepositoryShelf();
const personAt = (root: string) => {
  const kept = shelf.find(root);
  if (!kept) throw new Error(`There is no repository at ${root}.`);
  return kept.person;
};

describeSourceControl({
  name: 'memory',
  runner: { describe, it },
  open: async () => memorySourceControl(shelf, realClock),
  repository: async (files) => shelf.add(files).root,
  read: async (root, path) => personAt(root).read(path),
  write: async (root, path, content) => personAt(root).write(path, content),
  commit: async (root) => void personAt(root).commit(),
  digest: async (root) => personAt(root).digest(),
});
