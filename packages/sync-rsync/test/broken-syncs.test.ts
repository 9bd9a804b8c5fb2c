import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { describeDirectorySync, failureOf } from '@litterbox/conformance';
import { type DirectorySync, type Host, type SyncReport } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { rsync } from '../src/index.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-broken-sync-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const local = localHost();

/** A sync whose rsync is told other things. */
function told(change: (word: string) => readonly string[]): DirectorySync {
  return {
    sync: (source, target, options) => {
      const on = (host: Host): Host => ({
        ...host,
        spawn: ({ argv: [first, ...rest], ...spec }, call) =>
          host.spawn({ ...spec, argv: [first, ...rest.flatMap(change)] }, call),
      });
      const host = on(source.host);
      const other = target.host === source.host ? host : target.host;
      return rsync().sync({ ...source, host }, { ...target, host: other }, options);
    },
  };
}
const without = (option: string) => told((word) => (word === option ? [] : [word]));
const instead = (option: string, ...others: string[]) => told((word) => (word === option ? others : [word]));

function telling(change: (report: SyncReport) => SyncReport): DirectorySync {
  return { sync: async (...args) => change(await rsync().sync(...args)) };
}

/** What is broken, and the title of the test that one would expect to catch it. */
const BROKEN: readonly (readonly [what: string, sync: DirectorySync, caughtBy: string])[] = [
  [
    'brings all where some is asked for',
    without('--exclude=*'),
    'with some paths alone nothing else is copied, changed or removed, and they are no patterns',
  ],
  ['removes nothing', without('--delete'), 'what the source does not have is removed and told, with all in it'],
  [
    'goes by size and time',
    without('--checksum'),
    'content decides, not size and time; a mode and a link are brought too',
  ],
  ['forgets modes', without('--perms'), 'content decides, not size and time; a mode and a link are brought too'],
  ['leaves links out', without('--links'), 'a target that is not there is made, equal in every kind of file, and told'],
  ['follows links of the source', instead('--links', '--copy-unsafe-links'), 'no link of the source is followed'],
  [
    'writes through links of the target',
    instead('--links', '--links', '--keep-dirlinks'),
    'no link of the target leads out of it',
  ],
  [
    'writes into the file that is there',
    instead('--links', '--links', '--inplace', '--no-whole-file'),
    'a file is its old or its new content, whoever looks meanwhile',
  ],
  [
    'leaves empty directories out',
    instead('--links', '--links', '--prune-empty-dirs'),
    'a target that is not there is made, equal in every kind of file, and told',
  ],
  [
    'takes what is excluded for patterns',
    told((word) => [word.startsWith('--exclude=') ? word.replaceAll('\\', '') : word]),
    'what is excluded is neither copied nor changed nor removed, and is no pattern',
  ],
  [
    'removes what is excluded',
    instead('--delete', '--delete-excluded'),
    'what is excluded is neither copied nor changed nor removed, and is no pattern',
  ],
  [
    'brings every bit of a mode',
    without('--chmod=u-s,g-s,-t'),
    'pipes and sockets are left out, and no bit beyond rwx is brought',
  ],
  [
    'tells names as they are printed',
    telling((report) => ({ ...report, changed: report.changed.map((name) => JSON.stringify(name)) })),
    'names of any bytes arrive, are told as they are, and do nothing',
  ],
  [
    'tells of all that it looked at',
    instead('--checksum', '--ignore-times'),
    'a second call writes nothing and tells nothing',
  ],
  [
    'counts what it tells alone',
    telling((report) => ({ ...report, changedCount: report.changed.length })),
    'of many changes as many are told as was asked for, and all are counted',
  ],
  [
    'is deaf to an abort',
    { sync: (source, target, options) => rsync().sync(source, target, { ...options, signal: undefined }) },
    'an aborted call rejects with its reason, leaves whole files, and the next finishes',
  ],
  [
    'makes a source that is not there',
    {
      sync: async (source, target, options) => {
        await source.host.files.makeDirectory(source.path).catch(() => {});
        return await rsync().sync(source, target, options);
      },
    },
    'no source is NOT_FOUND and costs the target nothing; what is no directory is refused',
  ],
];

describe('the kit catches broken syncs', () => {
  for (const [what, sync, caughtBy] of BROKEN) {
    it(`one that ${what}`, async () => {
      const failure = await failureOf(
        (runner) =>
          describeDirectorySync({
            name: what,
            runner,
            open: async () => sync,
            places: async () => ({
              source: { host: local, path: directory },
              target: { host: local, path: directory },
            }),
          }),
        caughtBy,
      );
      expect(failure).toBeDefined();
      expect(failure?.name).not.toBe('TypeError'); // that would be a broken sync of this file, not one that was caught
    });
  }
});
