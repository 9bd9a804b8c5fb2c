import { describe, expect, it } from '@jest/globals';
import { fromAgent, toAgent } from './acp-messages.ts';

const PLACES = { outside: '/home/me/a b', inside: '/src' };
const SAME = { outside: '/src', inside: '/src' };
const parsed = (line: string | undefined) => JSON.parse(line ?? 'null') as Record<string, unknown>;
const heard = (message: object) => parsed(toAgent(JSON.stringify(message), PLACES)?.line);
const told = (message: object) => parsed(fromAgent(JSON.stringify(message), PLACES).toEditor);

describe('messages between an editor and an agent inside', () => {
  it('FC-455: a question that the agent takes back is taken back in the editor', () => {
    const cancel = { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 7 } };
    expect(told(cancel)).toEqual(cancel);
    expect(heard(cancel)).toEqual(cancel);
  });

  it.each(['\u001b]0;agent: ready\u0007', '\u001b]2;a\u001b\\\u001b[1;32m', '\u001b[?25l'])(
    'FC-456: a message behind a title or a colour is heard: %j',
    (before) => {
      const answer = { jsonrpc: '2.0', id: 0, result: { protocolVersion: 1 } };
      expect(fromAgent(before + JSON.stringify(answer), SAME)).toMatchObject({
        answers: 0,
        toEditor: JSON.stringify(answer),
      });
    },
  );

  it('FC-496: directories and files of the editor are those of the workspace inside, and back', () => {
    const prompt = [
      { type: 'resource_link', uri: 'file:///home/me/a%20b/x.ts' },
      { type: 'resource', resource: { uri: 'file:///home/me/a%20bc/x.ts', text: '/home/me/a b/x.ts' } },
    ];
    expect(
      heard({ id: 1, method: 'session/new', params: { cwd: '/home/me/a b/packages/one', mcpServers: [] } }),
    ).toEqual({
      id: 1,
      method: 'session/new',
      params: { cwd: '/src/packages/one', mcpServers: [] },
    });
    expect(heard({ id: 1, method: 'session/load', params: { cwd: '/etc' } })).toMatchObject({
      params: { cwd: '/src' },
    });
    expect(heard({ id: 2, method: 'session/prompt', params: { prompt } })).toMatchObject({
      params: {
        prompt: [
          { uri: 'file:///src/x.ts' },
          { resource: { uri: 'file:///home/me/a%20bc/x.ts', text: '/home/me/a b/x.ts' } },
        ],
      },
    });
    const update = {
      toolCallId: 't',
      locations: [{ path: '/src/x.ts' }, { path: '/srcs' }],
      content: [{ type: 'diff', path: '/src' }],
    };
    expect(told({ method: 'session/update', params: { update } })).toMatchObject({
      params: {
        update: { locations: [{ path: '/home/me/a b/x.ts' }, { path: '/srcs' }], content: [{ path: '/home/me/a b' }] },
      },
    });
  });

  it('FC-459: an agent that would take servers of the editor offers none, and they are named', () => {
    const agentCapabilities = { loadSession: true, mcpCapabilities: { http: true, sse: true } };
    expect(told({ id: 0, result: { agentCapabilities } })).toMatchObject({
      result: { agentCapabilities: { loadSession: true, mcpCapabilities: { http: false, sse: false } } },
    });
    const mcpServers = [{ name: 'files', command: '/bin/sh' }, 5];
    const message = toAgent(JSON.stringify({ id: 1, method: 'session/new', params: { mcpServers } }), SAME);
    expect(message).toMatchObject({ id: 1, servers: ['files', 'false'] });
    expect(parsed(message?.line)).toMatchObject({ params: { mcpServers: [] } });
  });

  it('AX149: what is nested deeper than anybody reads goes to nobody', () => {
    const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
    expect(fromAgent(`{"method":"session/update","params":${deep}}`, SAME)).toEqual({});
    expect(fromAgent(`{"method":"own/ask","id":${deep}}`, SAME)).toEqual({});
  });
});
