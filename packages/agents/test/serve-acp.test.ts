import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
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

it('AX173: an editor hears an agent inside, which has neither its files nor its terminals nor its servers', async () => {
  await using fixture = await InsideFixture.open();
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
