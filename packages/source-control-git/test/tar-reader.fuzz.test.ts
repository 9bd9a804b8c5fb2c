import { describe, expect, test } from '@jest/globals';
import { isLitterboxError } from '@litterbox/core/provider';
import * as fc from 'fast-check';
import { readTar } from '../src/objects/tar-reader.ts';
import { TAR_END, tarHeader, tarPadding } from '../src/objects/tar-writer.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

interface Read {
  readonly type: string;
  readonly name: string;
  readonly linkTarget: string;
  readonly isExecutable: boolean;
  readonly content: string;
}

/** All entries, or the code of the refusal; anything else that is thrown is a bug. */
async function read(chunks: readonly Uint8Array[]): Promise<readonly Read[] | string> {
  const found: Read[] = [];
  try {
    for await (const { type, name, linkTarget, isExecutable, sizeBytes, body } of readTar(
      ReadableStream.from(chunks),
    )) {
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(Uint8Array.from(part));
      const content = Buffer.concat(parts).toString('latin1');
      expect(content.length).toBe(sizeBytes);
      found.push({ type, name, linkTarget: type === 'symlink' ? linkTarget : '', isExecutable, content });
    }
  } catch (error) {
    if (!isLitterboxError(error)) throw error;
    expect(error.details.hint).toEqual(expect.any(String));
    return error.code;
  }
  return found;
}

const component = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom('a', 'b'.repeat(120), 'c'.repeat(200), '-', ' ', '\n', '.git', '..x', '\xff'),
  )
  .filter((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..');
const path = fc.array(component, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const entry = fc.oneof(
  fc.record({
    type: fc.constant('file' as const),
    name: path,
    isExecutable: fc.boolean(),
    content: fc.uint8Array({ maxLength: 1500 }),
  }),
  fc.record({ type: fc.constant('symlink' as const), name: path, linkTarget: path }),
  fc.record({ type: fc.constant('directory' as const), name: path }),
);

function archiveOf(entries: readonly (typeof entry extends fc.Arbitrary<infer One> ? One : never)[]) {
  const wanted: Read[] = [];
  const parts: Uint8Array[] = [];
  for (const one of entries) {
    const content = one.type === 'file' ? one.content : new Uint8Array();
    const isExecutable = one.type === 'file' ? one.isExecutable : one.type === 'directory';
    const linkTarget = one.type === 'symlink' ? one.linkTarget : '';
    parts.push(
      Buffer.from(
        tarHeader({
          type: one.type,
          name: one.name,
          mode: isExecutable ? 0o755 : 0o644,
          sizeBytes: content.length,
          ...(linkTarget !== '' && { linkTarget }),
        }),
      ),
      content,
      Buffer.from(tarPadding(content.length)),
    );
    wanted.push({
      type: one.type,
      name: one.name,
      linkTarget,
      isExecutable,
      content: Buffer.from(content).toString('latin1'),
    });
  }
  return { wanted, bytes: Buffer.concat([...parts, TAR_END]) };
}

function cut(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

const archive = fc.array(entry, { maxLength: 5 }).map(archiveOf);
const cuts = fc.array(fc.nat(20_000), { maxLength: 30 });

/** What makes hostile bytes of good ones. */
const mutation = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), at: fc.nat(20_000), value: fc.nat(255) }),
  fc.record({ kind: fc.constant('header' as const), at: fc.nat(20), field: fc.nat(511), value: fc.nat(255) }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(20_000), count: fc.nat(1100) }),
  fc.record({ kind: fc.constant('double' as const), at: fc.nat(20_000), count: fc.nat(1100) }),
  fc.record({ kind: fc.constant('end' as const), at: fc.nat(20_000) }),
  fc.record({ kind: fc.constant('add' as const), more: fc.uint8Array({ maxLength: 1100 }) }),
);

function mutate(bytes: Buffer, change: typeof mutation extends fc.Arbitrary<infer One> ? One : never): Buffer {
  if (change.kind === 'add') return Buffer.concat([bytes, change.more]);
  const at = change.at % (bytes.length + 1);
  switch (change.kind) {
    case 'set':
      return Buffer.concat([bytes.subarray(0, at), Buffer.of(change.value), bytes.subarray(at + 1)]);
    case 'header': {
      // With a sum that is right: what lies behind the sum is looked at too.
      const changed = Buffer.from(bytes);
      const start = (change.at % Math.max(1, Math.floor(bytes.length / 512))) * 512;
      if (start + 512 > changed.length) return changed;
      changed[start + change.field] = change.value;
      changed.write('        ', start + 148, 'latin1');
      const sum = changed.subarray(start, start + 512).reduce((total, byte) => total + byte, 0);
      changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, start + 148, 'latin1');
      return changed;
    }
    case 'remove':
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + change.count)]);
    case 'double':
      return Buffer.concat([bytes.subarray(0, at + change.count), bytes.subarray(at)]);
    case 'end':
      return bytes.subarray(0, at);
  }
}

describe('the tar reader, whatever comes', () => {
  test('what was written is read, wherever the stream was cut', async () => {
    await fc.assert(
      fc.asyncProperty(archive, cuts, async ({ wanted, bytes }, places) => {
        expect(await read(cut(bytes, places))).toEqual(wanted);
      }),
      { numRuns: runs(300) },
    );
  });

  test('an archive that was changed anywhere is read or refused by name, the same way for all cuts, and no name leads out', async () => {
    await fc.assert(
      fc.asyncProperty(
        archive,
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        cuts,
        async ({ bytes }, changes, places) => {
          const hostile = changes.reduce(mutate, bytes);
          const found = await read([hostile]);
          expect(await read(cut(hostile, places))).toEqual(found);
          if (typeof found === 'string') return expect(found).toMatch(/^TAR_/);
          for (const { name } of found) {
            expect(name).not.toBe('');
            expect(
              name.split('/').some((part) => part === '' || part === '.' || part === '..' || part.includes('\0')),
            ).toBe(false);
          }
        },
      ),
      { numRuns: runs(1500) },
    );
  });

  test('noise is refused by name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        expect(await read([bytes])).toEqual(expect.stringMatching(/^TAR_/));
      }),
      { numRuns: runs(300) },
    );
  });
});
