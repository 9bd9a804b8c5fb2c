import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { type ObjectId } from '@litterbox/core/provider';
import { type JournalledChange, RevisionJournal } from '../src/objects/revision-journal.ts';

const directory = mkdtempSync(join(process.env['TMPDIR'] ?? tmpdir(), 'scg-journal-'));
const path = join(directory, 'revisions.journal');
const opened: RevisionJournal[] = [];
afterEach(() => {
  for (const journal of opened.splice(0)) journal.close();
  rmSync(path, { force: true });
});

function open(): RevisionJournal {
  const journal = new RevisionJournal(path);
  opened.push(journal);
  return journal;
}

const oid = (digit: string) => digit.repeat(40) as ObjectId;

function change(value: string, content: string | Buffer = `content ${value}`): JournalledChange {
  return {
    refs: [{ name: 'refs/litterbox/x/tip', old: undefined, value: oid(value) }],
    objects: [{ oid: oid(value), type: 'blob', bytes: Buffer.from(content) }],
  };
}

const values = (journal: RevisionJournal) => journal.read().map(({ refs: [ref] }) => ref?.value?.slice(0, 1));

test('what was appended is read, byte for byte, by any process and in order', async () => {
  const [one, other] = [open(), open()];
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
  await one.append({
    refs: [
      { name: 'refs/litterbox/x/rules', old: oid('1'), value: undefined },
      { name: 'refs/litterbox/x/tip', old: oid('1'), value: oid('2') },
    ],
    objects: [
      { oid: oid('3'), type: 'blob', bytes },
      { oid: oid('4'), type: 'tree', bytes: Buffer.alloc(0) },
    ],
  });
  await other.append(change('5'));
  await one.append(change('6'));
  const [first, ...rest] = other.read();
  expect(first?.refs).toEqual([
    { name: 'refs/litterbox/x/rules', old: oid('1'), value: undefined },
    { name: 'refs/litterbox/x/tip', old: oid('1'), value: oid('2') },
  ]);
  expect(first?.objects[0]?.bytes.equals(bytes)).toBe(true);
  expect(first?.objects[1]).toMatchObject({ oid: oid('4'), type: 'tree' });
  expect(rest).toHaveLength(2);
  expect(one.usage.entries).toBe(3);
});

test('what one process takes out is gone for the other, and both go on', async () => {
  const [one, other] = [open(), open()];
  await one.append(change('1'));
  await other.append(change('2'));
  await one.clear();
  expect(values(other)).toEqual([]);
  await other.append(change('3'));
  await one.append(change('4'));
  expect(values(one)).toEqual(['3', '4']);
});

test('there is nothing in a journal that was never written', () => {
  expect(open().read()).toEqual([]);
});

test('an entry cut off anywhere is passed over, and the next one takes its place', async () => {
  const writer = open();
  await writer.append(change('1'));
  const whole = writer.usage.bytes;
  await writer.append(change('2', 'x'.repeat(100)));
  const all = readFileSync(path);
  const end = writer.usage.bytes;
  const cases: Buffer[] = [];
  for (let at = whole; at < end; at += 7) {
    cases.push(all.subarray(0, at)); // the file ends there
    cases.push(Buffer.from(all).fill(0, at, end)); // or what came before it does
  }
  cases.push(Buffer.from(all).fill(0, whole + 60, whole + 90)); // a disk may have written the end and not the middle
  for (const bytes of cases) {
    writeFileSync(path, bytes);
    const reader = open();
    expect(values(reader)).toEqual(['1']);
    await reader.append(change('3'));
    await reader.append(change('4'));
    expect(values(open())).toEqual(['1', '3', '4']);
  }
});

test('what another process left half-way while this one had the file open is passed over too', async () => {
  const writer = open();
  await writer.append(change('1'));
  const whole = writer.usage.bytes;
  const other = open();
  await other.append(change('2', 'x'.repeat(100)));
  writeFileSync(path, Buffer.from(readFileSync(path)).fill(0, whole + 70));
  await writer.append(change('3'));
  expect(values(open())).toEqual(['1', '3']);
});

test('a damaged entry with another behind it is said, by reading and by appending', async () => {
  const writer = open();
  await writer.append(change('1'));
  const first = writer.usage.bytes;
  await writer.append(change('2'));
  await writer.append(change('3'));
  const all = readFileSync(path);
  for (const at of [first, first + 17, first + 40, first + 60]) {
    const damaged = Buffer.from(all);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    writeFileSync(path, damaged);
    const said = { code: 'STORE_CORRUPT', details: { facts: { path, at: first } } };
    await expect((async () => open().read())()).rejects.toMatchObject(said);
    await expect(open().append(change('4'))).rejects.toMatchObject(said);
    expect(readFileSync(path).equals(damaged)).toBe(true);
  }
  truncateSync(path, 10);
  await expect((async () => open().read())()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
});

test('it grows beyond its room', async () => {
  const writer = open();
  for (const digit of ['1', '2', '3']) await writer.append(change(digit, 'x'.repeat(250_000)));
  expect(values(open())).toEqual(['1', '2', '3']);
  await writer.clear();
  await writer.append(change('4'));
  expect(values(open())).toEqual(['4']);
});

test('content that looks like entries of another journal is content', async () => {
  const foreign = join(directory, 'foreign');
  const writer = open();
  await writer.append(change('7'));
  copyFileSync(path, foreign);
  writer.close();
  rmSync(path);
  const entries = readFileSync(foreign).subarray(0, 1000);
  const journal = open();
  await journal.append(change('1'));
  await journal.append(change('2', Buffer.concat([entries, entries])));
  expect(values(open())).toEqual(['1', '2']);
  truncateSync(path, journal.usage.bytes - 1);
  expect(values(open())).toEqual(['1']); // cut off, with what looks whole in it
});

test('a length beyond all bounds is no reason to read on', async () => {
  const writer = open();
  await writer.append(change('1'));
  const salt = Buffer.from(readFileSync(path, 'latin1').slice(22, 54), 'hex');
  const bytes = readFileSync(path);
  Buffer.concat([salt, Buffer.alloc(36, 255)]).copy(bytes, writer.usage.bytes);
  writeFileSync(path, bytes);
  expect(values(open())).toEqual(['1']);
});
