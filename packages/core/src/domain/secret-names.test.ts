import { expect, test } from '@jest/globals';
import { secretPaths } from './secret-names.ts';

test.each([
  ['.env', ['.env']],
  ['app/.env.production', ['app/.env.production']],
  ['a/.aws/config', ['a/.aws']],
  ['.ssh/id_rsa', ['.ssh', '.ssh/id_rsa']],
  ['deploy/tls.key', ['deploy/tls.key']],
  ['.environment', []],
  ['src/env.ts', []],
  ['xenv', []],
  ['keys', []],
  ['monkey', []],
])('%s', (path, found) => {
  expect(secretPaths(path)).toEqual(found);
});
