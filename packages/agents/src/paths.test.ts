import { expect, test } from '@jest/globals';
import type { Hands } from './hands.ts';
import { hostPath, insidePath } from './paths.ts';

const place = { root: '/home/me/app', shell: '/bin/sh', hands: { record: { workdir: '/src' } } as unknown as Hands };

test.each([
  ['/home/me/app', '.'],
  ['/home/me/app/lib/a', 'lib/a'],
  ['/home/me/application', undefined],
  ['/etc', undefined],
])('%s lies inside at %s', (path, inside) => {
  expect(insidePath(place, path)).toBe(inside);
});

test.each([
  ['/src', '/home/me/app'],
  ['/src/lib/a b', '/home/me/app/lib/a b'],
  ['/srcs', undefined],
  ['/tmp', undefined],
  ['lib', undefined],
  ['/src/../../etc', undefined],
  ['/src/./lib', undefined],
  ['/src/lib/', undefined],
  ['/src//lib', undefined],
  ['/src/lib\n/etc', undefined],
  ['/src/lib\0', undefined],
  ['', undefined],
])('%j lies on the host at %s', (path, host) => {
  expect(hostPath(place, path)).toBe(host);
});
