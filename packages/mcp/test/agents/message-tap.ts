// node message-tap.ts FILE METHOD PROGRAM ARG...: starts the program of an agent, stands between it and the exec server of Litterbox, writes
// the method of each message into FILE, and kills Litterbox before the first message of METHOD arrives there. With METHOD - it kills nobody.
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { type RawData, WebSocket, WebSocketServer } from 'ws';

const [file = '', killAt = '', program = '', ...args] = process.argv.slice(2);
const litterbox = process.ppid;
const ADDRESS = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/;

/** pi is told by its extension, Codex by a variable. */
const extension = args.find((arg) => arg.endsWith('/litterbox.mjs'));
const told = extension === undefined ? process.env['CODEX_EXEC_SERVER_URL'] : readFileSync(extension, 'utf8');
const [upstream] = ADDRESS.exec(told ?? '') ?? [];
if (upstream === undefined) throw new Error('Nobody told the agent where Litterbox listens.');

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
await new Promise((resolve) => server.once('listening', resolve));
server.on('connection', (near) => {
  const far = new WebSocket(upstream, { perMessageDeflate: false });
  const early: string[] = [];
  near.on('message', (data) => {
    const text = textOf(data);
    const { method } = JSON.parse(text) as { readonly method?: string };
    if (method !== undefined) appendFileSync(file, `${method}\n`);
    if (method === killAt) {
      process.kill(litterbox, 'SIGKILL');
      server.close();
      for (const socket of server.clients) socket.terminate();
    } else if (far.readyState === far.OPEN) far.send(text);
    else early.push(text);
  });
  far.on('open', () => {
    for (const text of early.splice(0)) far.send(text);
  });
  far.on('message', (data) => near.send(textOf(data)));
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => other.terminate());
    one.on('close', () => other.terminate());
  }
});

const here = ADDRESS.exec(upstream.replace(/:\d+\//, `:${(server.address() as AddressInfo).port}/`))?.[0] ?? '';
if (extension !== undefined && told !== undefined) writeFileSync(extension, told.replace(upstream, here));
const env = extension === undefined ? { ...process.env, CODEX_EXEC_SERVER_URL: here } : process.env;
const child = spawn(program, args, { stdio: 'inherit', env });
child.once('close', (code) => process.exit(code ?? 1));

function textOf(data: RawData): string {
  return (data as Buffer).toString('utf8');
}
