import { expect, test } from '@jest/globals';
import { assertNode } from './assert-node.ts';

test('a Node that is too old is named, with the one that is needed', () => {
  for (const version of ['20.19.2', '22.18.0'])
    expect(() => assertNode(version)).toThrow(`Litterbox needs Node 22.19 or newer; this is ${version}.`);
  for (const version of ['22.19.0', '24.0.0', process.versions.node]) expect(() => assertNode(version)).not.toThrow();
});
