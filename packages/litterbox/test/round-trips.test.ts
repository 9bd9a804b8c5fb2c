import { subscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from '@jest/globals';
import { CountingHost } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import type { Litterbox } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER, provider } from './provider.ts';

type Call =
  | 'create'
  | 'first run by who made it'
  | 'first run'
  | 'first run, session at rest'
  | 'run'
  | 'attach, no input'
  | 'read'
  | 'first write'
  | 'write'
  | 'list'
  | 'delete';

/**
 * How often a program that uses Litterbox may wait for the machine of its sandboxes. An engine is asked for each step by itself: for its
 * facts, the image, a volume, the container, its start, and for each program twice. What looks for changes there lists no directory of the
 * workspace, so that a write asks once more. A container that the program before has just left may be found while it ends; then it is asked
 * three times more.
 */
const NAMESPACES = {
  create: 5,
  'first run': 6,
  'first run, session at rest': 8,
  run: 2,
  'attach, no input': 2,
  read: 1,
  'first write': 4,
  write: 2,
  list: 2, // the directory, then all in it at once, without a program; another machine is asked by one script
  delete: 3,
};
const ENGINES = {
  create: 10,
  'first run by who made it': 6, // no program is asked for: its shell is there
  'first run': 10,
  'first run, session at rest': 13,
  run: 2,
  'attach, no input': 2,
  read: 1,
  write: 3,
  list: 4, // the engine is asked which one it is; the directory, then all in it at once
};
/** It looks up what another program found out, writes down what it found out itself, and fills the volumes of a new container. */
const PODMAN = { ...ENGINES, create: 13, list: 5 };
const MOST: Readonly<Partial<Record<Call, number>>> = { overlayfs: NAMESPACES, podman: PODMAN }[PROVIDER] ?? ENGINES;

/** Programs that this process starts in each call, git's among them; not what those start in their turn. */
const PROGRAMS: typeof MOST =
  PROVIDER === 'overlayfs' ? { create: 10, run: 0, read: 0, 'first write': 2, write: 0, delete: 2 } : {};

let started = 0;
subscribe('child_process', () => {
  started += 1;
});

describe(`round trips to the machine on ${PROVIDER}`, () => {
  it('are as few as each call needs', async () => {
    await using fixture = new LibraryFixture();
    const opened = async () => {
      const host = new CountingHost(localHost({ repository: fixture.repository }));
      await host.facts(); // a provider is made when they are known
      return { host, litterbox: fixture.open({ providers: [(machine) => provider({ ...machine, host })] }) };
    };
    const counts: Record<string, number> = {};
    const programs: Record<string, number> = {};
    const waits: Record<string, readonly string[]> = {};
    const count = async (what: Call, host: CountingHost, work: () => Promise<unknown>) => {
      const startedBefore = started;
      const counted = await host.count(work);
      programs[what] = started - startedBefore;
      counts[what] = counted.roundTrips;
      waits[what] = counted.waits.map((wait) => wait.slice(0, 120));
    };
    await using before = fixture.open();
    await before.create({ name: 'base' }); // the base tree is there from then on
    await (await before.open('base')).run(['true']);

    const first = await opened();
    await count('create', first.host, () => first.litterbox.create({ name: 'work' }));
    await first.litterbox.create({ name: 'own' });
    await count('first run by who made it', first.host, () => run(first.litterbox, 'true', 'own'));
    const second = await opened();
    await count('first run', second.host, () => run(second.litterbox, 'true'));
    await count('run', second.host, () => run(second.litterbox, 'true'));
    const work = await second.litterbox.open('work');
    await count('attach, no input', second.host, async () => {
      await using attached = await work.attach({ command: ['true'], noInput: true });
      await attached.finish(await attached.process.exit);
    });
    await count('first write', second.host, () => work.files.write('src/a.txt', 'one\n'));
    await work.files.write('src/a.txt', 'two\n'); // a program for files stays from now on
    await count('write', second.host, () => work.files.write('src/a.txt', 'three\n'));
    await count('read', second.host, () => work.files.read('src/a.txt'));
    await second.litterbox[Symbol.asyncDispose]();
    await first.litterbox[Symbol.asyncDispose]();
    const third = await opened();
    await count('first run, session at rest', third.host, () => run(third.litterbox, 'true'));
    const fourth = await opened();
    await count('list', fourth.host, () => fourth.litterbox.list());
    await count('delete', fourth.host, () => fourth.litterbox.delete('work', { force: true }));

    const excess = Object.entries(MOST).filter(([what, most]) => (counts[what] ?? Number.POSITIVE_INFINITY) > most);
    const more = Object.entries(PROGRAMS).filter(([what, most]) => (programs[what] ?? Number.POSITIVE_INFINITY) > most);
    expect({ counts, programs, more, waits: Object.fromEntries(excess.map(([what]) => [what, waits[what]])) }).toEqual({
      counts,
      programs,
      more: [],
      waits: {},
    });
  });
});

async function run(litterbox: Litterbox, command: string, name = 'work'): Promise<void> {
  const sandbox = await litterbox.open(name);
  await sandbox.run([command]);
}
