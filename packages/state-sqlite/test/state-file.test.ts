import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from '@jest/globals';
import { fixtureRecord } from '@litterbox/conformance';
import { isLitterboxError } from '@litterbox/core/provider';
import { OwnerLocks } from '../src/owner-locks.ts';
import { MIGRATIONS } from '../src/database/schema.ts';
import { SqliteStateStore } from '../src/sqlite-state-store.ts';
import { StateDatabase } from '../src/database/state-database.ts';
import { networkFileSystem } from '@litterbox/core/provider';
import { systemClock } from '../src/system-clock.ts';
import { StateFixture } from './state-fixture.ts';

const HINT = { hint: expect.any(String) };

describe('the state directory', () => {
  test('is made, for its owner alone, and nothing happens before the first use', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open(join(fixture.parent, 'a', 'b'));
    expect(existsSync(join(fixture.parent, 'a'))).toBe(false);
    await state.list();
    expect(lstatSync(join(fixture.parent, 'a', 'b')).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(join(fixture.parent, 'a', 'b'))) {
      expect(lstatSync(join(fixture.parent, 'a', 'b', name)).mode & 0o077).toBe(0);
    }
  });

  test('has a name that is not UTF-8, with spaces and newlines', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open(join(fixture.parent, 'a b\n\udcff'));
    await state.insert(fixtureRecord());
    await using _ = await state.lease('a', 'b');
    expect(readdirSync(fixture.parent, { encoding: 'buffer' })[0]?.toString('latin1')).toBe('a b\n\u00ff');
  });

  const refusals: Readonly<Record<string, { readonly make: (path: string) => string; readonly message: RegExp }>> = {
    'a relative path': { make: () => 'state', message: /"state" is relative, an absolute path is needed/ },
    'a NUL character': { make: (path) => `${path}\0`, message: /holds a NUL character/ },
    'a path of 4 000 characters': {
      make: (path) => `${path}/${'a/'.repeat(2000)}`,
      message: /bytes long, at most 440/,
    },
    'a directory that others may enter': {
      make: (path) => {
        mkdirSync(path);
        chmodSync(path, 0o750);
        return path;
      },
      message: /has mode 0750, others may enter it; it must be 0700/,
    },
    'a symbolic link': {
      make: (path) => {
        mkdirSync(`${path}-target`, { mode: 0o700 });
        symlinkSync(`${path}-target`, path);
        return `${path}/`;
      },
      message: /is a symbolic link/,
    },
    'a file': {
      make: (path) => {
        writeFileSync(path, '');
        return path;
      },
      message: /is not a directory/,
    },
    'a path below a file': {
      make: (path) => {
        writeFileSync(path, '');
        return join(path, 'x');
      },
      message: /is not a directory/,
    },
  };
  for (const [name, { make, message }] of Object.entries(refusals)) {
    test(`is refused when it is ${name}`, async () => {
      await using fixture = new StateFixture();
      const { state, audit } = fixture.open(make(join(fixture.parent, 'x')));
      const expected = { code: 'STATE_DIR_INVALID', message: expect.stringMatching(message), details: HINT };
      await expect(state.list()).rejects.toMatchObject(expected);
      await expect(audit.start({ operation: 'a', actor: 'cli', input: {} })).rejects.toMatchObject({
        code: 'AUDIT_UNAVAILABLE',
        details: { ...HINT, facts: { cause: 'STATE_DIR_INVALID' } },
      });
    });
  }

  test('works once what was wrong is mended', async () => {
    await using fixture = new StateFixture();
    mkdirSync(fixture.directory);
    chmodSync(fixture.directory, 0o755);
    const { state } = fixture.open();
    await expect(state.list()).rejects.toMatchObject({ code: 'STATE_DIR_INVALID' });
    chmodSync(fixture.directory, 0o700);
    expect(await state.list()).toEqual([]);
  });

  test('is not taken from a network file system', () => {
    expect(networkFileSystem(0x6969)).toBe('NFS');
    expect(networkFileSystem(-11317950)).toBe('CIFS'); // as a signed number
    expect(networkFileSystem(0xef53)).toBeUndefined(); // ext4
  });
});

describe('the state file', () => {
  test('of a newer release is refused and stays as it is', async () => {
    await using fixture = new StateFixture();
    await fixture.open().state.insert(fixtureRecord());
    await fixture.close();
    const path = join(fixture.directory, 'state.db');
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99; PRAGMA journal_mode = DELETE');
    database.close();
    const before = readFileSync(path);
    const { state, audit } = fixture.open();
    await expect(state.list()).rejects.toMatchObject({
      code: 'STATE_TOO_NEW',
      message: expect.stringContaining(
        `has version 99; this release of Litterbox knows versions up to ${MIGRATIONS.length}`,
      ),
      details: HINT,
    });
    await expect(audit.entries({})).rejects.toMatchObject({ code: 'STATE_TOO_NEW' });
    await fixture.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('of an older release is copied, then brought up to date, by one of several processes', async () => {
    await using fixture = new StateFixture();
    const record = await fixture.open().state.insert(fixtureRecord());
    await fixture.close();
    const newer = [...MIGRATIONS, 'ALTER TABLE sandbox ADD COLUMN extra TEXT'];
    const [one, two] = [1, 2].map(() => new StateDatabase(fixture.directory, systemClock, newer));
    const read = (database: StateDatabase | undefined) =>
      database?.read('test', undefined, (transaction) => transaction.sql('SELECT id, extra FROM sandbox').all());
    expect(await Promise.all([read(one), read(two)])).toEqual([1, 2].map(() => [{ id: record.id, extra: null }]));
    await one?.[Symbol.asyncDispose]();
    await two?.[Symbol.asyncDispose]();
    const copies = `state.db.v${MIGRATIONS.length}`;
    const [copy] = readdirSync(fixture.directory).filter((name) => name.startsWith(copies));
    const old = new DatabaseSync(join(fixture.directory, copy ?? ''), { readOnly: true });
    expect(old.prepare('SELECT id FROM sandbox').all()).toMatchObject([{ id: record.id }]);
    expect(old.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: MIGRATIONS.length });
    old.close();
    await expect(fixture.open().state.list()).rejects.toMatchObject({ code: 'STATE_TOO_NEW' });
  });

  test('of the first version gets what came later, and keeps all it had', async () => {
    await using fixture = new StateFixture();
    mkdirSync(fixture.directory, { mode: 0o700 });
    const first = new StateDatabase(fixture.directory, systemClock, MIGRATIONS.slice(0, 1));
    const owners = new OwnerLocks(first);
    const before = new SqliteStateStore(first, owners, systemClock);
    const record = await before.insert(fixtureRecord());
    await before.publish({ type: 'test-event', data: {} });
    await before[Symbol.asyncDispose]();
    const { state } = fixture.open();
    expect(await state.list()).toEqual([record]);
    expect(await state.events(0)).toHaveLength(1);
    const [copy] = readdirSync(fixture.directory).filter((name) => name.startsWith('state.db.v1'));
    expect(copy).toBeDefined();
  });

  test('whose migration fails keeps its version and content', async () => {
    await using fixture = new StateFixture();
    const record = await fixture.open().state.insert(fixtureRecord());
    await fixture.close();
    const broken = new StateDatabase(fixture.directory, systemClock, [...MIGRATIONS, 'DROP TABLE event; NOT SQL']);
    await expect(broken.open()).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(await fixture.open().state.list()).toEqual([record]);
    expect(await fixture.open().state.events(0)).toEqual([]);
  });

  const damage: Readonly<Record<string, (path: string) => void>> = {
    'that holds garbage': (path) => writeFileSync(path, Buffer.alloc(10_000, 'garbage ')),
    'cut to nothing': (path) => truncateSync(path, 0),
    'cut in half': (path) => truncateSync(path, 16 * 1024),
    'of another program': (path) => {
      writeFileSync(path, '');
      const database = new DatabaseSync(path);
      database.exec('CREATE TABLE other (a)');
      database.close();
    },
  };
  for (const [name, spoil] of Object.entries(damage)) {
    test(`${name} is STATE_CORRUPT and is left alone`, async () => {
      await using fixture = new StateFixture();
      const { state } = fixture.open();
      const log = 'x'.repeat(4000);
      for (let count = 0; count < 30; count += 1) await state.insert(fixtureRecord({ setupLog: log }));
      await fixture.close();
      const path = join(fixture.directory, 'state.db');
      spoil(path);
      const before = readFileSync(path);
      const again = fixture.open().state;
      await expect(again.list()).rejects.toMatchObject({
        code: 'STATE_CORRUPT',
        message: expect.stringContaining('state.db'),
        details: { hint: expect.stringContaining('Nothing was deleted') },
      });
      await fixture.close();
      expect(readFileSync(path).equals(before)).toBe(true);
    });
  }

  const rows: Readonly<Record<string, string>> = {
    'the record of sandbox': `UPDATE sandbox SET body = json_remove(body, '$.slug')`,
    'policy.root.type': `UPDATE sandbox SET body = json_set(body, '$.policy.root.type', 'host')`,
    'assurance.masked': `UPDATE sandbox SET body = json_set(body, '$.assurance', json('{"provider":"p","mechanism":"m","controls":[],"readable":[],"masked":1}'))`,
    'policy.endpoints[0].name': `UPDATE sandbox SET body = json_set(body, '$.policy.endpoints', json('[{}]'))`,
    'not JSON': `UPDATE sandbox SET body = 'x'`,
    'contradicts itself': 'UPDATE sandbox SET generation = 7',
  };
  for (const [part, how] of Object.entries(rows)) {
    test(`with a row that cannot be ours is STATE_CORRUPT and says what is wrong: ${part}`, async () => {
      await using fixture = new StateFixture();
      const { state } = fixture.open();
      const { id } = await state.insert(fixtureRecord());
      const database = new DatabaseSync(join(fixture.directory, 'state.db'));
      database.exec(how);
      database.close();
      const error: unknown = await state.get(id).catch((reason: unknown) => reason);
      expect(isLitterboxError(error, 'STATE_CORRUPT') && error.message).toContain(part);
      expect(await state.events(0)).toEqual([]); // the rest still works
    });
  }
});
