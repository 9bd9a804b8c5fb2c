import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { foreignOverlays } from '../src/machine/foreign-overlays.ts';
import { backendDirectory, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const isRoot = process.getuid?.() === 0;

it('the overlays that a session leads to stay, whatever their names', () => {
  const line = (point: string) =>
    `36 35 98:0 / ${point} rw,noatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w`;
  const mounted = ['/', '/state', '/var/lib/docker/overlay2/1/merged', '/with\\040blank', '/statement'].map(line);
  expect(foreignOverlays(`${mounted.join('\n')}\n`, ['/state/overlayfs/sandboxes/1', '/usr'])).toEqual([
    '/var/lib/docker/overlay2/1/merged',
    '/with blank',
    '/statement',
  ]);
});

(isRoot ? it : it.skip)('a session holds no overlay of a container', async () => {
  const directory = await backendDirectory('overlay');
  const point = join(directory, 'of a container');
  for (const name of ['lower', 'upper', 'work', 'of a container']) mkdirSync(join(directory, name));
  const options = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(directory, name)}`).join(',');
  execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, point]);
  try {
    // The control: a namespace that only copies has it.
    const copied = execFileSync('unshare', ['-m', '--propagation', 'private', 'cat', '/proc/self/mountinfo'], {
      encoding: 'utf8',
    });
    expect(copied).toContain(inMountinfo(point));
    await using provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory });
    const id = SandboxId.make();
    await using _runtime = await provider.create(sandboxSpec(id));
    const tables = mountsOfSession(id);
    expect(tables).not.toEqual([]);
    expect(tables.filter((table) => table.includes(inMountinfo(point)))).toEqual([]);
    await provider.remove(id);
  } finally {
    execFileSync('umount', [point]);
    await removeBackend(directory);
  }
});

const inMountinfo = (point: string) => ` ${point.replaceAll(' ', '\\040')} `;

/** What is mounted in each namespace in which the sandbox's directory is at /run. */
function mountsOfSession(id: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const table = readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
        return table.includes(`/sandboxes/${id} /run `) ? [table] : [];
      } catch {
        return []; // it has ended
      }
    });
}
