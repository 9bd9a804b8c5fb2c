// A few tests that need nothing but Node >= 22.18 and this checkout: no package, no build. The quickstart runs them inside a sandbox.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const core = new URL('../packages/core/src/', import.meta.url);
const { MarkerSplitter } = await import(new URL('channel/marker-splitter.ts', core));
const { decodeRaw, encodeRaw } = await import(new URL('domain/text/raw-text.ts', core));
const { slugify } = await import(new URL('domain/sandbox/slug.ts', core));

void test('a name becomes a slug', () => {
  assert.equal(slugify('Fix Bug #12').slug, 'fix-bug-12');
  assert.throws(() => slugify('HEAD'), { code: 'NAME_RESERVED' });
});

void test('file names of any bytes survive as text', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  assert.deepEqual(encodeRaw(decodeRaw(bytes)), bytes);
});

void test('the end of a command is found whatever the chunks', () => {
  let output = '';
  const statuses = [];
  const splitter = new MarkerSplitter(
    (bytes) => (output += new TextDecoder().decode(bytes)),
    (status) => statuses.push(status),
  );
  splitter.expect('abc');
  for (const byte of new TextEncoder().encode('out\u001eabx\u001eabc 0 0\n')) splitter.push(Uint8Array.of(byte));
  assert.equal(output, 'out\u001eabx');
  assert.deepEqual(statuses, ['0 0']);
});
