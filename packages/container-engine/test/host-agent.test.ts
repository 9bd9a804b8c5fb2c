import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, createServer, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { localHost } from '@litterbox/host';
import { connectEngine } from '../src/address/connect-engine.ts';
import { HostAgent } from '../src/engine/host-agent.ts';

it('asks again over the connection that is kept, and leaves nothing on it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-agent-'));
  const path = join(directory, 'socket');
  let connections = 0;
  const server = createServer((_asked, answer) => void answer.end('answer'));
  server.on('connection', () => (connections += 1));
  await once(server.listen(path), 'listening');
  const agent = new HostAgent(connectEngine(localHost(), { type: 'unix', path }));
  const seen = new Set<Duplex>();
  try {
    const listeners: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      const asked = request({ agent, path: '/', socketPath: path }).end();
      const [response]: IncomingMessage[] = await once(asked, 'response');
      await response?.resume().toArray();
      const { socket } = asked;
      if (!socket) throw new Error('no connection');
      await setImmediate(); // Node gives the connection back right after the answer's end
      seen.add(socket);
      listeners.push(socket.listenerCount('error'));
    }
    expect({ connections, seen: seen.size }).toEqual({ connections: 1, seen: 1 });
    expect(new Set(listeners.slice(1)).size).toBe(1);
  } finally {
    agent.closeIdle();
    server.close();
    await rm(directory, { recursive: true });
  }
});
