import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { forBackend } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { overlayfs } from '@litterbox/provider-overlayfs';
import type { Litterbox } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';

const LARGE_BYTES = 4 * 2 ** 20;
/** Where the test host keeps file systems that can share blocks; ZFS is in the second machine alone, and alone there. */
const PLACES = {
  btrfs: '/var/lib/litterbox-test/fs/btrfs',
  reflink: '/var/lib/litterbox-test/fs/xfs',
  zfs: '/var/lib/litterbox-test/fs/zfs',
} as const;
const STRATEGIES = existsSync(PLACES.zfs) ? (['zfs'] as const) : (['btrfs', 'reflink'] as const);
const LOOK = 'find . -printf "%y %P %m %s %l %T@\\n" | tail -n +2 | sort; find . -type f -exec cksum {} + | sort';

/** Shell text: a mount namespace that is just ending has a copy of the mount. */
const DESTROY = 'n=0; until zfs destroy -R "$0"; do n=$((n+1)); [ $n -lt 50 ] || exit 1; sleep 0.2; done';

/** State directories where the strategy works. */
class SharingFixture extends LibraryFixture {
  readonly #strategy: keyof typeof PLACES;

  constructor(strategy: keyof typeof PLACES, files: Readonly<Record<string, string>>) {
    super(files);
    this.#strategy = strategy;
  }

  /** A Litterbox with a state directory of its own. */
  sharing(): { readonly litterbox: Litterbox; readonly bases: string } {
    const strategy = this.#strategy;
    const stateDirectory = mkdtempSync(join(PLACES[strategy], 'litterbox-bases-'));
    const dataset = strategy === 'zfs' ? datasetFor(stateDirectory) : undefined;
    const remove = () => {
      if (dataset !== undefined) execFileSync('sh', ['-c', DESTROY, dataset]);
      const subvolumes = ['-inum', '256', '-exec', 'btrfs', 'property', 'set', '-ts', '{}', 'ro', 'false', ';'];
      execFileSync('find', [stateDirectory, '-type', 'd', ...subvolumes]);
      rmSync(stateDirectory, { recursive: true, force: true });
    };
    this.defer(remove);
    const litterbox = this.open({ stateDirectory, providers: [(machine) => overlayfs({ ...machine, strategy })] });
    this.defer(async () => {
      for (const { name } of await litterbox.list()) await litterbox.delete(name, { force: true });
    });
    return { litterbox, bases: join(stateDirectory, 'overlayfs/bases') };
  }
}

/** A dataset of its own, at that directory. */
function datasetFor(directory: string): string {
  const above = execFileSync('findmnt', ['-n', '-o', 'SOURCE', '-T', directory], { encoding: 'utf8' }).trim();
  const dataset = `${above}/${basename(directory)}`;
  execFileSync('zfs', ['create', '-o', `mountpoint=${directory}`, dataset]);
  chmodSync(directory, 0o700);
  return dataset;
}

/** Bytes that are free, once what was written is on the disk. */
function freeBytes(directory: string): number {
  execFileSync('sync', ['-f', directory]);
  if (directory.startsWith(`${PLACES.zfs}/`)) execFileSync('zpool', ['sync']); // which counts what was written when it is
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

for (const strategy of STRATEGIES) {
  const absence = async () => {
    if (!existsSync(PLACES[strategy])) return `there is no ${PLACES[strategy]}`;
    const directory = mkdtempSync(join(PLACES[strategy], 'litterbox-probe-'));
    try {
      const host = localHost();
      await using provider = overlayfs({ host, facts: await host.facts(), directory, strategy });
      return (await provider.probe()).usable ? undefined : `${strategy} does not work in ${directory}`;
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  };
  const runner = await forBackend(`overlayfs-${strategy}`, { describe, it, afterAll }, absence);

  runner.describe(`a base of another commit, with ${strategy}`, () => {
    runner.it('is a copy of the nearest one with what differs, and holds what the commit holds', async () => {
      await using fixture = new SharingFixture(strategy, {
        'kept/a': 'a\n',
        'gone/b/c': 'c\n',
        'gone-file': 'x\n',
        'directory-now/.keep': '',
        'file-now/inside': 'x\n',
        'mode.sh': '#!/bin/sh\n',
        'changed/in/place': 'before\n',
        large: 'x'.repeat(LARGE_BYTES),
      });
      // A link that leads out of the tree, and is a directory in the next commit.
      execFileSync('ln', ['-s', tmpdir(), join(fixture.repository, 'link-now-directory')]);
      fixture.git('add', '-A');
      fixture.git('commit', '-q', '-m', 'link');
      const { litterbox, bases } = fixture.sharing();
      const first = await litterbox.create({ name: 'first' });
      const before = (await first.run(LOOK)).stdout;
      fixture.git('rm', '-q', '-r', 'gone', 'gone-file', 'file-now', 'directory-now', 'link-now-directory');
      const files = {
        'file-now': 'a file\n',
        'directory-now': 'a file too\n',
        'new/d/e': 'e\n',
        "odd\nname's": 'odd\n',
        'changed/in/place': 'after\n',
        'link-now-directory/litterbox-was-here': 'inside\n',
      };
      for (const [path, text] of Object.entries(files)) fixture.file(path, text);
      fixture.git('add', '-A');
      fixture.git('update-index', '--chmod=+x', 'mode.sh');
      fixture.git('commit', '-q', '-m', 'second');

      const free = freeBytes(bases);
      const second = await litterbox.create({ name: 'second' });
      expect(free - freeBytes(bases)).toBeLessThan(LARGE_BYTES / 2);
      expect(existsSync(join(tmpdir(), 'litterbox-was-here'))).toBe(false);
      const other = fixture.sharing();
      const whole = await other.litterbox.create({ name: 'whole' });
      expect((await second.run(LOOK)).stdout).toBe((await whole.run(LOOK)).stdout);
      expect((await first.run(LOOK)).stdout).toBe(before);
      expect((await second.run(['true'])).recorded.revision).toBeUndefined();
      const names = readdirSync(bases);
      expect(names.filter((name) => name.startsWith('.'))).toEqual([]);
      expect(names).toHaveLength(2);
      await litterbox.delete('first', { force: true });
      expect((await second.run('cat changed/in/place kept/a')).stdout).toBe('after\na\n');
    });
  });
}
