import { expect, it } from '@jest/globals';
import { foldedPath } from './folded-path.ts';

it.each([
  ['src/a.txt', 'src/a.txt'],
  ['.VSCode/Tasks.json', '.vscode/tasks.json'],
  ['.v\u017fcode/tasks.json', '.vscode/tasks.json'],
  ['ma\u212aefile', 'makefile'],
  ['con\ufb01g', 'config'],
  ['pack\u200bage\u{e0100}.json', 'package.json'],
  ['e\u0301', '\u00e9'],
])('%j is taken for %j', (path, folded) => expect(foldedPath(path)).toBe(folded));
