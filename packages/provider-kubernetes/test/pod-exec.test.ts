import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { type CallOptions, isConnectionLost, type OutputChunk } from '@litterbox/core/provider';
import { ExecProcess, type RawExec } from '@litterbox/sandbox-kit';
import type { WebSocket } from 'ws';
import { podExecEngine } from '../src/pod-exec.ts';
import { type FakeCluster, fakeCluster } from './fake-cluster.ts';

const V5 = 'v5.channel.k8s.io';
const say = (socket: WebSocket, channel: number, text: string) =>
  socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));
const SUCCESS = JSON.stringify({ status: 'Success' });

async function started(cluster: FakeCluster, options?: CallOptions) {
  const fake = await fakeCluster(cluster);
  const scripts: boolean[] = [];
  const exec = await podExecEngine(fake.api, 'kubernetes', { pod: 'litterbox-x' }).start(
    {
      script: (hasFramedStdin) => {
        scripts.push(hasFramedStdin);
        return 'true';
      },
      environment: ["QUOTED=it's"],
      hasTerminal: false,
      hasStdin: true,
    },
    options,
  );
  return { fake, exec, scripts };
}

async function collected(exec: RawExec): Promise<string> {
  const chunks: OutputChunk[] = [];
  for await (const chunk of exec.output) chunks.push(chunk);
  return chunks
    .map(({ type, bytes }) => `${type === 'stdout-data' ? 'out' : 'err'} ${Buffer.from(bytes).toString()}`)
    .join('|');
}

/** A program that keeps what it is sent and ends when its stdin does, as far as the protocol can say that. */
function echo(end: (message: Buffer) => boolean): { readonly told: Buffer[]; exec(socket: WebSocket): void } {
  const told: Buffer[] = [];
  return {
    told,
    exec(socket) {
      socket.on('message', (message: Buffer) => {
        told.push(message);
        if (!end(message)) return;
        say(socket, 1, 'out');
        say(socket, 2, 'bad');
        say(
          socket,
          3,
          JSON.stringify({
            status: 'Failure',
            reason: 'NonZeroExitCode',
            details: { causes: [{ reason: 'ExitCode', message: '3' }] },
          }),
        );
        socket.close();
      });
    },
  };
}

test('v5 ends stdin by a message of its own, behind all that was written', async () => {
  const program = echo((message) => message[0] === 255);
  const { fake, exec, scripts } = await started({ ...program, protocol: V5 });
  await using _fake = fake;
  await exec.write(Buffer.from('hello'));
  exec.endInput();
  expect(await collected(exec)).toBe('out out|err bad');
  expect(await exec.exitCode()).toBe(3);
  expect(scripts).toEqual([false]);
  expect(program.told.slice(1)).toEqual([Buffer.from('\0hello'), Buffer.of(255, 0)]);
});

test('v4 cannot end stdin: it comes as lengths and bytes, and a length of nothing ends it', async () => {
  const program = echo((message) => message.toString() === '\x000\n');
  const { fake, exec, scripts } = await started(program);
  await using _fake = fake;
  await exec.write(Buffer.from('hello'));
  exec.endInput();
  expect(await collected(exec)).toBe('out out|err bad');
  expect(await exec.exitCode()).toBe(3);
  expect(scripts).toEqual([true]);
  expect(program.told.slice(1).map(String)).toEqual(['\x005\nhello', '\x000\n']);
});

test('the script goes by stdin, not by the address, which API servers log', async () => {
  let address = '';
  const told: string[] = [];
  const { fake, exec } = await started({
    exec(socket, request) {
      address = request.url ?? '';
      socket.on('message', (message: Buffer) => {
        told.push(message.toString());
        say(socket, 3, SUCCESS);
        socket.close();
      });
    },
  });
  await using _fake = fake;
  await collected(exec);
  expect(address).not.toContain('QUOTED');
  expect(told[0]).toContain('QUOTED');
  expect(await exec.exitCode()).toBe(0);
});

test.each([
  ['closed without a status', (socket: WebSocket) => socket.close()],
  ['cut', (socket: WebSocket) => socket.terminate()],
  ['a status that is none', (socket: WebSocket) => (say(socket, 3, 'Success'), socket.close())],
  [
    'a status of another failure',
    (socket: WebSocket) => (say(socket, 3, '{"status":"Failure","message":"gone"}'), socket.close()),
  ],
  [
    'an exit code that is no number',
    (socket: WebSocket) => (
      say(
        socket,
        3,
        '{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"x"}]}}',
      ),
      socket.close()
    ),
  ],
])('%s is a lost connection and never an exit of 0', async (_title, end) => {
  const { fake, exec } = await started({ exec: (socket) => void socket.once('message', () => end(socket)) });
  await using _fake = fake;
  await collected(exec);
  expect(isConnectionLost(await exec.exitCode().catch((error: unknown) => error))).toBe(true);
});

test('a connection that is lost before the first word is told as that, and no limit is blamed', async () => {
  await using fake = await fakeCluster({ exec: (socket) => void socket.once('message', () => socket.terminate()) });
  const starting = ExecProcess.start({
    engine: podExecEngine(fake.api, 'kubernetes', { pod: 'litterbox-x' }),
    spec: { argv: ['true'], cwd: '/', env: {} },
    inherited: [],
    openFiles: 1024,
    processors: [],
    onEnd: () => {},
  });
  expect(isConnectionLost(await starting.catch((error: unknown) => error))).toBe(true);
});

test('output that nobody reads is held back at its source, and all of it comes when it is read', async () => {
  const BYTES = 64 * 2 ** 20;
  let sent = 0;
  let server: WebSocket | undefined;
  const { fake, exec } = await started({
    exec(socket) {
      server = socket;
      socket.once('message', () => {
        const more = () => {
          if (sent === BYTES) return say(socket, 3, SUCCESS), socket.close();
          sent += 2 ** 16;
          socket.send(Buffer.alloc(2 ** 16 + 1, 1), () => more());
        };
        more();
      });
    },
  });
  await using _fake = fake;
  let last = -1;
  await eventually(
    async () => {
      const isStill = last === sent && sent > 0;
      last = sent;
      for (let turns = 0; turns < 2000; turns += 1) await turn();
      return isStill;
    },
    (isStill) => isStill,
  );
  expect(sent).toBeLessThan(BYTES / 2);
  expect(server?.readyState).toBe(1);
  let read = 0;
  for await (const { bytes } of exec.output) read += bytes.length;
  expect(read).toBe(BYTES);
  expect(await exec.exitCode()).toBe(0);
});

test('FC-485: stdin is asked for though the program gets none: servers were seen that end others after their first output', async () => {
  const asked: string[] = [];
  await using fake = await fakeCluster({ exec: (_socket, request) => void asked.push(request.url ?? '') });
  const exec = await podExecEngine(fake.api, 'kubernetes', { pod: 'litterbox-x' }).start({
    script: () => 'true',
    environment: [],
    hasTerminal: false,
    hasStdin: false,
  });
  exec.destroy();
  expect(new URL(asked[0] ?? '', 'http://x').searchParams.get('stdin')).toBe('true');
});
