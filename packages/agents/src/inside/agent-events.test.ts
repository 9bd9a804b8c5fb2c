import { expect, it } from '@jest/globals';
import { AgentEvents } from './agent-events.ts';

const EVENTS = [
  '{"type":"turn","usage":{"in":1,"out":2}}',
  '{"type":"turn","usage":{"in":-1,"out":2}}',
  'no event',
  '{"type":"other","usage":{"in":100,"out":100}}',
  '{"type":"turn","usage":{"in":10,"out":20}}',
  '{"type":"result"}',
];
const LINES = EVENTS.map((event) => `${event}\n`).join('');

it.each([
  [undefined, { input: 10, output: 20 }],
  [{ type: 'turn' }, { input: 11, output: 22 }],
])('counts tokens by the last line, or by all of a kind: %j', (each, tokens) => {
  const events = new AgentEvents({ end: { type: 'result' }, tokens: { input: 'usage.in', output: 'usage.out', each } });
  for (const byte of Buffer.from(LINES)) {
    expect(events.hasEnded).toBe(false);
    events.push(Uint8Array.of(byte));
  }
  expect(events).toMatchObject({ hasEnded: true, tokens });
});

it('FC-465: hears a last line that has no end', () => {
  const events = new AgentEvents({ tokens: { input: 'usage.in', output: 'usage.out' } });
  events.push(Buffer.from('{"usage":{"in":3,"out":4}}'));
  events.end();
  events.end();
  expect(events.tokens).toEqual({ input: 3, output: 4 });
});
