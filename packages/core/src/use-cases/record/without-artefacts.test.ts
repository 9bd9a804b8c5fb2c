import { expect, test } from '@jest/globals';
import type { ChangedPath } from '../../domain/paths/changed-path.ts';
import { withoutArtefacts } from './without-artefacts.ts';

async function* changes(): AsyncGenerator<ChangedPath> {
  yield { type: 'directory', path: '', children: [{ name: 'target', type: 'directory' }] };
  yield { type: 'file', path: 'target/a', sizeBytes: 1, executable: false };
  yield { type: 'directory', path: 'target', children: [] };
  yield { type: 'file', path: 'targets', sizeBytes: 1, executable: false };
  yield { type: 'file', path: 'sub/target/.gitignore', sizeBytes: 1, executable: false };
  yield { type: 'special', path: 'target' };
}

const pathsOf = async (include: readonly string[]) => {
  const paths: string[] = [];
  for await (const { path } of withoutArtefacts(changes(), include)) paths.push(path);
  return paths;
};

test('changes of what came along are left out, those of what is near to it are not', async () => {
  expect(await pathsOf(['target'])).toEqual(['', 'targets', 'sub/target/.gitignore']);
  expect(await pathsOf(['sub/target'])).toEqual(['', 'target/a', 'target', 'targets', 'target']);
  expect(await pathsOf([])).toHaveLength(6);
});
