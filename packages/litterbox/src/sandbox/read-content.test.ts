import { expect, test } from '@jest/globals';
import { inMemory } from '../../test/in-memory.ts';
import { readContent } from './read-content.ts';

test('a stream of text and bytes is the input of a command and the content of a file', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  const parts = () => ReadableStream.from(['ä', Uint8Array.of(0x0a), 'b\n']);
  expect((await sandbox.run('cat', { stdin: parts() })).stdout).toBe('ä\nb\n');
  await sandbox.files.write('a.txt', parts());
  expect(await sandbox.files.readText('a.txt')).toBe('ä\nb\n');
  const large = new Uint8Array(100_000).fill(0x61);
  expect((await sandbox.run('cat; ls -A /playground', { stdin: large })).stdout).toBe('a'.repeat(100_000)); // nothing is left there
});

test('what goes wrong with a stream is told, and nothing runs', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  const failing = new ReadableStream({ start: (controller) => controller.error(new Error('mine')) });
  await expect(sandbox.run('echo ran >ran', { stdin: failing })).rejects.toThrow('mine');
  const reason = new Error('enough');
  const endless = () => new ReadableStream<Uint8Array>();
  await expect(sandbox.run('true', { stdin: endless(), signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const tooLong = ReadableStream.from(Array.from({ length: 65 }, () => new Uint8Array(2 ** 20)));
  await expect(readContent(tooLong)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
  expect(await sandbox.files.exists('ran')).toBe(false);
});
