import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { MAX_HELLO_BYTES, readClientHello } from '../src/read-client-hello.ts';
import { clientHelloOf } from './client-hello-of.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

/** The same handshake in records of at most so many bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const records: Buffer[] = [];
  for (let at = 5; at < hello.length; at += size) {
    const part = hello.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

/** With one more extension at the end. */
function extended(hello: Buffer, type: number, body: readonly number[]): Buffer {
  let at = 5 + 4 + 34;
  at += 1 + (hello[at] ?? 0);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + (hello[at] ?? 0);
  const extra = Buffer.from([type >> 8, type & 255, body.length >> 8, body.length & 255, ...body]);
  const longer = Buffer.concat([hello, extra]);
  longer.writeUInt16BE(hello.readUInt16BE(at) + extra.length, at);
  longer.writeUIntBE(longer.length - 9, 6, 3);
  longer.writeUInt16BE(longer.length - 5, 3);
  return longer;
}

const versions = [
  { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' },
  { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' },
] as const;

describe.each(versions)('the hello of %o', (version) => {
  it('names its server, whole, in pieces and in small records', async () => {
    const hello = await clientHelloOf({
      ...version,
      servername: 'Registry.Example.org',
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    const want = { type: 'hello', serverName: 'registry.example.org' };
    expect(readClientHello(hello)).toEqual({ ...want, byteLength: hello.length });
    for (let length = 0; length < hello.length; length += 1)
      expect({ length, type: readClientHello(hello.subarray(0, length)).type }).toEqual({ length, type: 'incomplete' });
    for (const size of [64, 99, 200]) expect(readClientHello(inRecords(hello, size))).toMatchObject(want);
    expect(readClientHello(Buffer.concat([hello, Buffer.from([20, 3, 3, 0, 1, 1])]))).toEqual({
      ...want,
      byteLength: hello.length,
    });
  });
});

it('is not read again with each byte that comes (L1)', async () => {
  const hello = extended(await clientHelloOf({ servername: 'example.org' }), 0x1a1a, Array(8000).fill(0));
  let looks = 0;
  for (let length = 1; ; looks += 1) {
    const state = readClientHello(hello.subarray(0, length));
    if (state.type !== 'incomplete') {
      expect(state).toMatchObject({ type: 'hello', serverName: 'example.org' });
      break;
    }
    expect(state.wantedBytes).toBeGreaterThan(length);
    length = state.wantedBytes;
  }
  expect(looks).toBeLessThan(5);
});

describe('refused', () => {
  const reasonOf = (bytes: Buffer) => {
    const state = readClientHello(bytes);
    return state.type === 'refused' ? state.reason : state;
  };

  it('a hello that names no server, or is encrypted, or would speak something else', async () => {
    expect(reasonOf(await clientHelloOf({}))).toContain('names no server');
    const hello = await clientHelloOf({ servername: 'example.org' });
    expect(reasonOf(extended(hello, 0xfe0d, [0, 0]))).toContain('encrypted');
    expect(reasonOf(await clientHelloOf({ servername: 'example.org', ALPNProtocols: ['http/1.1', 'dot'] }))).toContain(
      'something else than HTTP',
    );
    // Positive control: an extension that nobody knows changes nothing.
    expect(readClientHello(extended(hello, 0x1a1a, [1, 2, 3]))).toMatchObject({
      type: 'hello',
      serverName: 'example.org',
    });
  });

  it('a hello in more records than any client sends', async () => {
    const hello = await clientHelloOf({ servername: 'example.org' });
    const all = inRecords(hello, 1);
    expect(reasonOf(all)).toContain('more than 64 pieces');
    expect(readClientHello(all.subarray(0, 64 * 6))).toMatchObject({ type: 'incomplete' });
  });

  it('two names, an extension twice, a name of another kind', async () => {
    const hello = await clientHelloOf({});
    const name = (text: string) => [0, 0, text.length, ...Buffer.from(text)];
    const list = (...names: (readonly number[])[]) => [0, names.flat().length, ...names.flat()];
    expect(readClientHello(extended(hello, 0, list(name('a.example'))))).toMatchObject({
      type: 'hello',
      serverName: 'a.example',
    });
    expect(reasonOf(extended(hello, 0, list(name('a.example'), name('b.example'))))).toContain('several servers');
    expect(reasonOf(extended(hello, 0, list([1, 0, 1, 65])))).toContain('broken');
    expect(reasonOf(extended(extended(hello, 0, list(name('a.example'))), 0, list(name('b.example'))))).toContain(
      'broken',
    );
    expect(reasonOf(extended(hello, 0, [0, 200, 0, 0, 1, 65]))).toContain('broken');
  });

  it('what is no TLS, from its first byte', () => {
    for (const first of ['GET / HTTP/1.1\r\n\r\n', 'SSH-2.0-x\r\n', '\u0005\u0001\u0000', '\u0016\u0002\u0001'])
      expect(reasonOf(Buffer.from(first, 'latin1'))).toContain('no TLS');
    expect(reasonOf(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]))).toContain('no hello');
    expect(reasonOf(Buffer.from([22, 3, 1, 0, 0]))).toContain('broken');
    expect(reasonOf(Buffer.from([22, 3, 1, 0, 4, 1, 1, 0, 0]))).toContain(`longer than ${MAX_HELLO_BYTES}`);
  });

  it('a hello that never ends', () => {
    const record = Buffer.from([22, 3, 1, 0, 1, 1]);
    const start = Buffer.concat([record, Buffer.from([22, 3, 1, 0, 3, 0, 0x3f, 0xf0])]);
    const drop = Buffer.concat([Buffer.from([22, 3, 1, 2, 0]), Buffer.alloc(512)]);
    const drip = Buffer.concat([start, ...Array.from({ length: 40 }, () => drop)]);
    expect(reasonOf(drip.subarray(0, MAX_HELLO_BYTES))).toContain(`longer than ${MAX_HELLO_BYTES}`);
  });
});

it('never throws, and never takes a name from anywhere but where it stands', async () => {
  const hello = await clientHelloOf({ servername: 'example.org' });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      fc.nat(hello.length),
      (changes, length) => {
        const changed = Buffer.from(hello);
        for (const [at, byte] of changes) changed[at] = byte;
        const state = readClientHello(changed.subarray(0, length));
        if (state.type !== 'hello') return;
        expect(changed.toString('latin1').toLowerCase()).toContain(state.serverName);
      },
    ),
    { numRuns: runs(2000) },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void readClientHello(Buffer.from(bytes))),
    { numRuns: runs(1000) },
  );
});
