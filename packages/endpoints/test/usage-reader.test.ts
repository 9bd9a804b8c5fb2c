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
const GEMINI = JSON.stringify([
  { usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 1 } },
  { usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, thoughtsTokenCount: 3 } },
]);

test.each([
  ['text/event-stream; charset=utf-8', ANTHROPIC, { input: 10, output: 20 }],
  ['text/event-stream', RESPONSES, { input: 5, output: 6 }],
  ['application/json', CHAT, { input: 8, output: 9 }],
  ['application/json; charset=utf-8', GEMINI, { input: 4, output: 5 }],
  ['text/html', CHAT, undefined],
  ['application/json', '{"usage":', undefined],
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
    reader.end();
    expect(reader.tokens).toEqual(wanted);
  }
});
