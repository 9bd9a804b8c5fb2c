import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { Hands } from '../hands.ts';
import { ExecServer } from './exec-server.ts';
import { MAX_MESSAGE_BYTES } from './messages.ts';
import { serveExecLines } from './serve-exec-lines.ts';

function served() {
  const hands = { name: 'one', record: { id: 'one', workdir: '/src' } } as unknown as Hands;
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = serveExecLines(new ExecServer({ hands, root: '/src', shell: '/bin/sh' }), input, output);
  return { input, output, ended };
}

const initialize = '{"id":1,"method":"initialize","params":{"clientName":"test","resumeSessionId":null}}';

test('a line is a message, in whatever pieces it comes, and the end of the input is the end', async () => {
  const { input, output, ended } = served();
  for (const piece of [initialize.slice(0, 20), `${initialize.slice(20)}\r\n\nno mess`, 'age\n']) input.write(piece);
  input.end('cut');
  await ended;
  const lines = String(output.read()).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { id: 1, result: expect.objectContaining({ sessionId: expect.any(String) }) },
    { id: -1, error: expect.objectContaining({ message: 'Not a message.' }) },
  ]);
});

test('a line without an end is not kept, and a client that is gone ends it too', async () => {
  const long = served();
  const piece = Buffer.alloc(2 ** 20, 'a');
  for (let bytes = 0; bytes <= MAX_MESSAGE_BYTES; bytes += piece.length) long.input.write(piece);
  await expect(long.ended).rejects.toThrow(RangeError);
  const gone = served();
  gone.output.destroy(new Error('EPIPE'));
  await gone.ended;
});
