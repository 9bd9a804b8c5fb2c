import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { serveAcp } from '../src/index.ts';
import { InsideFixture } from './inside-fixture.ts';

/** An agent that wants more of its editor than words. */
const SCRIPT = [
  'read -r one; printf "%s\\n" "$one" >/tmp/one',
  `echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'`,
  'read -r two; printf "%s\\n" "$two" >/tmp/two',
  `echo '{"jsonrpc":"2.0","id":7,"method":"fs/write_text_file","params":{"path":"/etc/x","content":"x"}}'`,
  'read -r refused; printf "%s\\n" "$refused" >/tmp/refused',
  'echo no message; echo 5',
  `echo '{"jsonrpc":"2.0","method":"_own/open","params":{}}'`,
  `echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}'`,
  'echo b >b.txt; cat >/dev/null',
].join('; ');

let fixture: InsideFixture;
beforeAll(async () => {
  fixture = await InsideFixture.open();
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

it('AX173: an editor hears an agent inside, which has neither its files nor its terminals nor its servers', async () => {
  const { sandbox, agents } = fixture;
  const { scripted } = agents;
  if (!scripted) throw new Error('no agent');
  const [input, output] = [new PassThrough(), new PassThrough()];
  const say = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const heard = text(output);
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
  say({ id: 0, method: 'initialize', params: { protocolVersion: 1, clientCapabilities } });
  say({ id: 1, method: 'session/new', params: { cwd: '/home/of/somebody', mcpServers: [{ command: '/bin/sh' }] } });
  const serving = serveAcp(sandbox, { name: 'scripted', agent: { ...scripted, acp: [SCRIPT] } }, { input, output });
  while ((await sandbox.run('test -e b.txt')).exitCode !== 0) await new Promise((resolve) => setTimeout(resolve, 50));
  input.end();
  await serving;
  output.end();
  expect(
    (await heard)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toEqual([
    { jsonrpc: '2.0', id: 0, result: { protocolVersion: 1 } },
    { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's' } },
    { jsonrpc: '2.0', id: 1, error: { code: -32_603, message: expect.stringContaining('Its exit code is 0.') } },
  ]);
  const seen = JSON.parse(
    `[${(await sandbox.run('paste -sd, /tmp/one /tmp/two /tmp/refused | paste -sd,')).stdout}]`,
  ) as object[];
  const none = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  expect(seen).toMatchObject([
    { method: 'initialize', params: { protocolVersion: 1, clientCapabilities: none } },
    { method: 'session/new', params: { cwd: sandbox.record.workdir, mcpServers: [] } },
    { id: 7, error: { code: -32_601 } },
  ]);
  expect(await sandbox.diff()).toContain('b.txt');
  const silent = serveAcp(sandbox, { name: 'scripted', agent: scripted }, { input, output });
  await expect(silent).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});

/** An editor that asked for a session and sent a prompt, and what it hears of an agent that does this with its third line. */
async function prompted(then: string, more: readonly string[] = [], isLeft = false) {
  const { sandbox, agents } = fixture;
  const { scripted } = agents;
  if (!scripted) throw new Error('no agent');
  const script = `rm -f /tmp/left; read -r one; echo '{"jsonrpc":"2.0","id":"one","result":{}}'; read -r two; ${then}`;
  const [input, output] = [new PassThrough(), new PassThrough()];
  const heard = text(output);
  input.write('{"jsonrpc":"2.0","id":"one","method":"initialize","params":{}}\n');
  input.write('{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"prompt":[]}}\n');
  for (const line of more) input.write(`${line}\n`);
  if (isLeft) input.end();
  const notices: string[] = [];
  const onNotice = (sentence: string) => void notices.push(sentence);
  await serveAcp(sandbox, { name: 'scripted', agent: { ...scripted, acp: [script] } }, { input, output }, { onNotice });
  output.end();
  const left = (await sandbox.run('cat /tmp/left 2>/dev/null; true')).stdout;
  const messages = (await heard).trim().split('\n');
  return { answers: messages.map((line) => JSON.parse(line) as Record<string, unknown>), notices, left };
}

it('FC-458: an agent that ends in the middle leaves no request without an answer', async () => {
  const { answers } = await prompted('kill -9 $$');
  expect(answers).toEqual([
    { jsonrpc: '2.0', id: 'one', result: {} },
    {
      jsonrpc: '2.0',
      id: 2,
      error: { code: -32_603, message: 'litterbox: Scripted ended before it answered. Its exit code is 137.' },
    },
  ]);
});

it('FC-497: a message that is too large ends the session with its reason; one of ten MiB is passed on', async () => {
  const image = (bytes: number) =>
    JSON.stringify({ id: 3, method: 'session/prompt', params: { data: 'x'.repeat(bytes) } });
  const taken = await prompted('head -n 1 | wc -c >/tmp/left', [image(10 * 2 ** 20)]);
  expect(Number(taken.left)).toBeGreaterThan(10 * 2 ** 20);
  const { answers } = await prompted('cat >/dev/null', [image(17 * 2 ** 20)]);
  expect(answers[1]).toMatchObject({
    id: 2,
    error: { message: expect.stringContaining('a message of more than 16777216 bytes') },
  });
});

it('FC-499: a cancel reaches the agent at work, and no variable of the editor does', async () => {
  process.env['EDITORS_OWN_KEY'] = 'canary-of-the-editor';
  try {
    const cancel = '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}';
    const answered = `read -r cancel; echo "$cancel" >/tmp/left; env >>/tmp/left; echo '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}'`;
    const { answers, left } = await prompted(answered, [cancel]);
    expect(answers[1]).toEqual({ jsonrpc: '2.0', id: 2, result: { stopReason: 'cancelled' } });
    expect(left).toContain('session/cancel');
    expect(left).not.toContain('canary-of-the-editor');
  } finally {
    delete process.env['EDITORS_OWN_KEY'];
  }
});

it('FC-459: servers of the editor that the agent is not given are named to the person', async () => {
  const mcpServers = [{ name: 'files', command: '/bin/sh', args: [], env: [] }];
  const opened = JSON.stringify({ id: 3, method: 'session/new', params: { cwd: '/', mcpServers } });
  const { notices } = await prompted('read -r three', [opened]);
  expect(notices).toEqual(['Scripted works inside, without MCP servers of the editor: files.']);
});

it('FC-498: an agent that does not end with its editor is ended, with all that it started', async () => {
  const mark = `7${String(Math.random()).slice(2, 8)}`;
  const stay = `trap "" HUP TERM; (setsid sleep ${mark} &); while :; do sleep ${mark}; done`;
  const { answers } = await prompted(stay, [], true);
  expect(answers[1]).toMatchObject({ id: 2, error: { code: -32_603 } });
  const { stdout } = await fixture.sandbox.run('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "');
  expect(stdout).not.toContain(`sleep ${mark}`);
});
