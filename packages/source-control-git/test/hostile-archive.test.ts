import { describe, expect, test } from '@jest/globals';
import { pack } from 'tar-stream';
import { readTar } from '../src/objects/tar-reader.ts';
import { TAR_END, tarHeader, tarPadding } from '../src/objects/tar-writer.ts';
import { begin, request, GitFixture } from './git-fixture.ts';

const file = (name: string, content = 'x') => [
  tarHeader({ type: 'file', name, mode: 0o644, sizeBytes: content.length }),
  Buffer.from(content),
  tarPadding(content.length),
];

/** A header of any type, its checksum right. */
function header(name: string, typeFlag: string, sizeBytes = 0, linkTarget = ''): Buffer {
  const block = Buffer.from(tarHeader({ type: 'file', name, mode: 0o644, sizeBytes, linkTarget }));
  block.write(typeFlag, 156, 'latin1');
  block.write('        ', 148, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

const pax = (records: string) => [header('pax', 'x', records.length), Buffer.from(records), tarPadding(records.length)];

type Part = Uint8Array | Uint8Array[];

const stream = (...parts: readonly Part[]) => ReadableStream.from([Buffer.concat(parts.flat())]);

const CASES: readonly [string, string, readonly Part[]][] = [
  ['a name that nobody asked for', 'TAR_PATH_ESCAPE', [file('a'), file('other'), TAR_END]],
  ['a name twice', 'TAR_DUPLICATE', [file('a'), file('a'), TAR_END]],
  ['a way out', 'TAR_PATH_ESCAPE', [file('../a'), TAR_END]],
  ['a way out in the middle', 'TAR_PATH_ESCAPE', [file('x/../a'), TAR_END]],
  ['an absolute name', 'TAR_ABSOLUTE', [file('/a'), TAR_END]],
  ['a dot', 'TAR_PATH_ESCAPE', [file('./a'), TAR_END]],
  ['a hard link', 'TAR_TYPE_FORBIDDEN', [header('a', '1', 0, '/etc/passwd'), TAR_END]],
  ['a character device', 'TAR_TYPE_FORBIDDEN', [header('a', '3'), TAR_END]],
  ['a block device', 'TAR_TYPE_FORBIDDEN', [header('a', '4'), TAR_END]],
  ['a fifo', 'TAR_TYPE_FORBIDDEN', [header('a', '6'), TAR_END]],
  ['a sparse file', 'TAR_TYPE_FORBIDDEN', [header('a', 'S'), TAR_END]],
  ['a global header', 'TAR_TYPE_FORBIDDEN', [header('a', 'g'), TAR_END]],
  ['a link with content', 'TAR_TYPE_FORBIDDEN', [header('a', '2', 512, 'x'), Buffer.alloc(512), TAR_END]],
  ['a link to nothing', 'TAR_NAME_ENCODING', [header('a', '2'), TAR_END]],
  ['a PAX name that escapes', 'TAR_PATH_ESCAPE', [pax('15 path=../../a\n'.replace('15', '16')), file('a'), TAR_END]],
  ['a PAX size that is no number', 'TAR_TRUNCATED', [pax('11 size=-1\n'), file('a'), TAR_END]],
  ['a PAX record that lies about its length', 'TAR_TRUNCATED', [pax('99 path=a\n'), file('a'), TAR_END]],
  ['a NUL in a PAX name', 'TAR_NAME_ENCODING', [pax('12 path=a\0b\n'), file('a'), TAR_END]],
  ['a size beyond all limits', 'TAR_TOO_LARGE', [header('a', '0', 8 ** 11 - 1), TAR_END]],
  ['a name header without end', 'TAR_TOO_LARGE', [header('a', 'L', 1_000_000), TAR_END]],
  ['a damaged header', 'TAR_TRUNCATED', [Buffer.concat(file('a')).fill(7, 0, 5), TAR_END]],
  ['no end', 'TAR_TRUNCATED', [file('a')]],
  ['half an end', 'TAR_TRUNCATED', [file('a'), TAR_END.subarray(0, 512)]],
  [
    'a cut in a file',
    'TAR_TRUNCATED',
    [tarHeader({ type: 'file', name: 'a', mode: 0o644, sizeBytes: 5000 }), Buffer.alloc(100)],
  ],
  ['nothing at all', 'TAR_TRUNCATED', []],
];

describe('an archive from the sandbox', () => {
  test.each(CASES)('with %s is %s, and the tip stays', async (_, code, parts) => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ a: '1', b: '1' }));
    const id = await begin(repository);
    const recording = repository.record(id, { ...request({ a: '2', b: '2' }), contents: () => stream(...parts) });
    await expect(recording).rejects.toMatchObject({ code });
    expect((await repository.history(id)).tip.number).toBe(0);
    expect((await repository.record(id, request({ a: '3', b: '1' }))).changedFiles).toBe(1);
  });

  test('as tar-stream writes it is read alike, in chunks of any size', async () => {
    const long = `${'d'.repeat(90)}/${'e'.repeat(90)}/${'f'.repeat(90)}`;
    const entries = [
      { name: 'plain', content: 'x' },
      { name: long, content: 'y'.repeat(3000) },
      { name: 'ünïcode/名前', content: '' },
    ];
    const archive = pack();
    for (const { name, content } of entries) archive.entry({ name, type: 'file', mode: 0o755 }, content);
    archive.entry({ name: 'link', type: 'symlink', linkname: 't'.repeat(150) });
    archive.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    for (const step of [1, 7, 512, 100_000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) =>
        bytes.subarray(index * step, (index + 1) * step),
      );
      const found: unknown[] = [];
      for await (const entry of readTar(ReadableStream.from(pieces))) {
        let content = '';
        for await (const chunk of entry.body) content += Buffer.from(chunk).toString();
        found.push([entry.type, Buffer.from(entry.name, 'latin1').toString(), entry.linkTarget.length, content]);
      }
      expect(found).toEqual([
        ...entries.map(({ name, content }) => ['file', name, 0, content]),
        ['symlink', 'link', 150, ''],
      ]);
    }
  });
});
