import { describe, expect, it } from '@jest/globals';
import { workspaceFault } from './workspace-fault.ts';

const UPPER = '/state/sandboxes/1/upper';
const ROOT = '10 5 0:1 / / ro - overlay overlay rw,lowerdir=/image,upperdir=/engine/diff,workdir=/engine/work';
const workspace = (id: number, parent: number, point: string) =>
  `${id} ${parent} 0:2 / ${point} rw - overlay overlay rw,lowerdir=/base,upperdir=${UPPER},workdir=/w`;
const other = (id: number, parent: number, point: string) => `${id} ${parent} 0:3 / ${point} rw - tmpfs tmpfs rw`;
const SRC = ['/src'];
const faultOf = (lines: readonly string[], places: readonly string[]) =>
  workspaceFault(`${lines.join('\n')}\n`, places, UPPER);

describe('the workspace at its place', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['is there', [ROOT, workspace(11, 10, '/src'), other(12, 10, '/tmp')], SRC],
    ['has mounts of its own in it', [ROOT, workspace(11, 10, '/src'), other(12, 11, '/src/target')], SRC],
    ['has a neighbour with a longer name', [ROOT, workspace(11, 10, '/src'), other(12, 10, '/srcs')], SRC],
    ['lies in another mount', [ROOT, other(11, 10, '/var'), workspace(12, 11, '/var/code')], ['/var/code']],
    ['is told after what stands on it', [other(12, 11, '/src/x'), workspace(11, 10, '/src'), ROOT], SRC],
    ['has a name with a blank', [ROOT, workspace(11, 10, '/my\\040code')], ['/my code']],
    ['is at two places', [ROOT, workspace(11, 10, '/code'), workspace(12, 10, '/src')], ['/code', '/src']],
    ['is of a kernel that tells no layers', ['10 5 0:1 / / rw - 9p none rw', '11 10 0:2 / /src rw - 9p none rw'], SRC],
  ])('%s', (_what, lines, places) => {
    expect(faultOf(lines, places)).toBeUndefined();
  });

  it.each<[string, readonly string[], string, readonly string[]]>([
    [
      'is somewhere else',
      [ROOT, workspace(11, 10, '/etc')],
      'at /src or above it: the workspace would be at /etc',
      SRC,
    ],
    [
      'has one of two places only',
      [ROOT, workspace(11, 10, '/code'), workspace(12, 10, '/etc')],
      'would be at /etc',
      ['/code', '/src'],
    ],
    [
      'went where another place is',
      [ROOT, workspace(11, 10, '/src'), workspace(12, 11, '/src')],
      'at /code or above it',
      ['/code', '/src'],
    ],
    [
      'is below another mount',
      [ROOT, workspace(11, 10, '/src'), other(12, 11, '/src')],
      'by which a tmpfs is mounted over the workspace at /src',
      SRC,
    ],
    [
      'is over another mount, for now',
      [ROOT, other(11, 10, '/src'), workspace(12, 11, '/src')],
      'by which a tmpfs is mounted over the workspace at /src',
      SRC,
    ],
    ['is below one that is above it', [ROOT, workspace(11, 10, '/a/b'), other(12, 10, '/a')], 'at /a/b', ['/a/b']],
    ['is nowhere', ['10 5 0:1 / / rw - 9p none rw'], 'at /src or above it', SRC],
  ])('is not told as there where it %s', (_what, lines, fault, places) => {
    expect(faultOf(lines, places)).toContain(fault);
  });
});
