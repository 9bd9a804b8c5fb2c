import { Buffer } from 'node:buffer';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { AuditHead } from '../src/database/audit-head.ts';

const ONE = { sequence: 99, hash: 'a'.repeat(64) };
const TWO = { sequence: 100, hash: 'b'.repeat(64) };
let directory = '';
let path = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'litterbox-head-'));
  path = join(directory, 'audit.head');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function written(mark: typeof ONE): Buffer {
  const head = new AuditHead(Buffer.from(path), true);
  head.write(mark);
  head.close();
  return readFileSync(path);
}

test('a mark is read as it was written, the empty one too', () => {
  const head = new AuditHead(Buffer.from(path), true);
  expect(head.read()).toEqual({ sequence: 0, hash: '' });
  for (const mark of [ONE, TWO, ONE]) {
    head.write(mark);
    expect(head.read()).toEqual(mark);
  }
  head.close();
});

test('what is half one mark and half another is no mark, wherever the two meet', () => {
  const [one, two] = [written(ONE), written(TWO)];
  const head = new AuditHead(Buffer.from(path), true);
  for (const cut of [1, 3, 4, 20, 40, 66, 70, 80]) {
    writeFileSync(path, Buffer.concat([two.subarray(0, cut), one.subarray(cut)]));
    expect({ cut, head: head.read() }).toEqual({ cut, head: undefined });
  }
  head.close();
});

test('a mark of an older version counts', () => {
  const head = new AuditHead(Buffer.from(path), true);
  writeFileSync(path, `${`${ONE.sequence} ${ONE.hash}`.padEnd(127)}\n`);
  expect(head.read()).toEqual(ONE);
  head.close();
});
