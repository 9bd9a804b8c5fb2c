import { describe, expect, it } from '@jest/globals';
import { withMarkedPart } from './agents/marked-part.ts';
import { messagesApi } from './agents/messages-api.ts';
import { modelServer } from './agents/model-server.ts';
import { calling, mustMatch, type Plot } from './agents/plot.ts';

function* twoCalls(): Plot {
  mustMatch('ls', yield* calling('ls', { path: '.' }), /^a\nb$/);
  yield* calling('read', { path: 'a' });
  return 'Done.';
}

const TOOLS = ['Bash', 'mcp__litterbox__ls', 'mcp__litterbox__read'].map((name) => ({ name, input_schema: {} }));

/** What a client would send after so many results. */
async function turn(url: string, results: readonly unknown[], tools: readonly object[] = TOOLS) {
  const messages = results.map((content) => ({ role: 'user', content: [{ type: 'tool_result', content }] }));
  const body = JSON.stringify({
    model: 'm',
    stream: true,
    tools,
    messages: [{ role: 'user', content: 'x' }, ...messages],
  });
  return await (await fetch(`${url}/v1/messages?beta=true`, { method: 'POST', body })).text();
}

describe('a model that follows a plot', () => {
  it('calls by the names that the client gives, goes on by the results, and tells the same to who asks twice', async () => {
    await using server = await modelServer(messagesApi, twoCalls());
    expect(await turn(server.url, [])).toContain('"name":"mcp__litterbox__ls"');
    expect(await turn(server.url, [])).toContain('"name":"mcp__litterbox__ls"');
    expect(await turn(server.url, [[{ type: 'text', text: 'a\nb' }]])).toContain('"name":"mcp__litterbox__read"');
    expect(await turn(server.url, ['a\nb', 'content'])).toContain('Done.');
    expect(server.talk).toMatchObject({ isOver: true, failure: undefined, results: ['a\nb', 'content'] });
    expect(server.talk.turns).toHaveLength(3);
  });

  it.each([
    ['escaped line ends', '{"text":"a\\nb"}', /ls: want/],
    ['another text', 'a\nc', /ls: want/],
  ])('fails at %s', async (_what, result, failure) => {
    await using server = await modelServer(messagesApi, twoCalls());
    await turn(server.url, []);
    expect(await turn(server.url, [result])).toContain('The plot ends here');
    expect(server.talk).toMatchObject({ isOver: false, failure: expect.stringMatching(failure) });
  });

  it('fails at results that it never asked for, and at a tool that is not offered', async () => {
    await using early = await modelServer(messagesApi, twoCalls());
    await turn(early.url, ['a\nb']);
    expect(early.talk.failure).toBe('1 results of 0 calls');
    await using poor = await modelServer(messagesApi, twoCalls());
    await turn(poor.url, [], TOOLS.slice(2));
    expect(poor.talk.failure).toMatch(/^no tool ls among /);
  });

  it('writes down every request, and answers nothing but turns', async () => {
    await using server = await modelServer(messagesApi, twoCalls());
    expect((await fetch(`${server.url}/api/event_logging`, { method: 'POST' })).status).toBe(404);
    expect(await turn(server.url, [], TOOLS.slice(0, 1))).toContain('A title');
    expect(server.talk).toMatchObject({
      requests: ['POST /api/event_logging', 'POST /v1/messages?beta=true'],
      turns: [],
    });
  });
});

it('replaces what stands between the markers of a page, and only that', () => {
  const page = 'a\n<!-- measured: npm run x -->\nold\n<!-- end of what npm run x measured -->\nb\n';
  const once = withMarkedPart(page, 'x', 'new');
  expect(once).toBe('a\n<!-- measured: npm run x -->\n\nnew\n\n<!-- end of what npm run x measured -->\nb\n');
  expect(withMarkedPart(once, 'x', 'new')).toBe(once);
  expect(() => withMarkedPart(page, 'y', 'new')).toThrow(/no place/);
});
