import { expect, test } from '@jest/globals';
import { UsageReader } from '../src/usage-reader.ts';

const events = (...all: readonly object[]) => all.map((one) => `event: x\ndata: ${JSON.stringify(one)}\n\n`).join('');
const ANTHROPIC = events(
  { type: 'message_start', message: { usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 } } },
  { type: 'content_block_delta', delta: { text: '"usage":{"output_tokens":999}' } },
  { type: 'content_block_delta', delta: { usage: { output_tokens: 999 } } },
  { type: 'message_delta', usage: { output_tokens: 20 } },
);
const RESPONSES = events({ type: 'response.completed', response: { usage: { input_tokens: 5, output_tokens: 6 } } });
const CHAT = '{"choices":[{"usage":{"prompt_tokens":99}}],"usage":{"prompt_tokens":8,"completion_tokens":9}}';
const delta = (text: string) => ({ choices: [{ delta: { content: text } }] });
const GEMINI = JSON.stringify([
  { usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 1 } },
  { usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, thoughtsTokenCount: 3 } },
]);

const estimate = (input: number, output: number) => ({ input, output, isEstimate: true });

test.each([
  ['text/event-stream; charset=utf-8', ANTHROPIC, { input: 10, output: 20 }],
  ['text/event-stream', RESPONSES, { input: 5, output: 6 }],
  ['application/json', CHAT, { input: 8, output: 9 }],
  ['application/json; charset=utf-8', GEMINI, { input: 4, output: 5 }],
  // A reader that leaves before the count, or never asks for it, has spent all the same.
  [
    'text/event-stream',
    ANTHROPIC.slice(0, ANTHROPIC.indexOf('event: x\ndata: {"type":"message_delta"')),
    estimate(10, 8),
  ],
  ['text/event-stream', events(delta('x'.repeat(400)), delta('y')), estimate(25, 101)],
  ['text/event-stream', events({ type: 'response.output_text.delta', delta: 'z'.repeat(40) }), estimate(25, 10)],
  ['application/json', CHAT.slice(0, CHAT.indexOf('"usage":{"prompt_tokens":8')), estimate(25, 11)],
  ['application/json', '{"choices":[{"message":{"content":"yes"}}]}', estimate(25, 1)],
  ['application/json', '{"data":[],"usage":{"prompt_tokens":8}}', { input: 8, output: 0 }],
  ['text/html', CHAT, undefined],
  ['application/json', '{"usage":', estimate(25, 3)],
  ['application/json', '{"usage":{"input_tokens":-5,"output_tokens":"6"}}', { input: 0, output: 0 }],
  [
    'text/event-stream',
    `data: {"pad":"${'x'.repeat(8 * 2 ** 20)}","usage":{"input_tokens":1}}\n${RESPONSES}`,
    { input: 5, output: 6 },
  ],
])('reads tokens of %s in pieces of any size', (type, text, wanted) => {
  for (const size of [text.length, text.length > 10_000 ? 65_536 : 1]) {
    const reader = new UsageReader(type);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    reader.end(100);
    expect(reader.tokens).toEqual(wanted);
  }
});
