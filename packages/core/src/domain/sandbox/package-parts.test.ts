import { describe, expect, it } from '@jest/globals';
import { isOfPackage, packageParts } from './package-parts.ts';

const TRACKED = [
  'package.json',
  'a/package.json',
  'a/b/package.json',
  'c/index.js',
  'd/pom.xml',
  'node_modules/x/package.json',
];

describe('packageParts', () => {
  it.each([
    [['node_modules'], ['a/b/node_modules', 'a/node_modules']],
    [['a/node_modules'], ['a/b/node_modules']],
    [['target'], ['d/target']],
    [['.env', 'dist', 'c/node_modules'], []],
  ])('of %p are %p', (named, parts) => {
    expect(packageParts(named, TRACKED)).toEqual(parts);
  });

  it('are told by the files that packages have, and by no others', () => {
    expect(TRACKED.filter((path) => isOfPackage(path, ['x/target', '.env']))).toEqual(['d/pom.xml']);
  });
});
