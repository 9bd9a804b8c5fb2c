import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { HostAgent } from './host-agent.ts';

const MIB = 2 ** 20;
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** What becomes of a question to an engine that answers with so many bytes. */
async function asked(path: string, answerBytes: number): Promise<{ readonly bytes: number; readonly error?: string }> {
  const engine = createServer((_request: IncomingMessage, response: ServerResponse) => {
    let left = answerBytes;
    const write = () => {
      while (left > 0) {
        const size = Math.min(left, MIB);
        left -= size;
        if (!response.write(Buffer.alloc(size, 'x'))) return void response.once('drain', write);
      }
      response.end();
    };
    write();
  });
  server = engine;
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
  const { port } = engine.address() as AddressInfo;
  const agent = new HostAgent(async () => connect(port, '127.0.0.1'), 4 * MIB);
  try {
    return await new Promise((end) => {
      let bytes = 0;
      const request = get({ path, agent }, (response) => {
        response.on('data', (chunk: Uint8Array) => (bytes += chunk.length));
        response.on('end', () => end({ bytes }));
      });
      request.on('error', ({ message }) => end({ bytes, error: message }));
    });
  } finally {
    agent.closeIdle();
  }
}

it('an answer that fits is whole', async () => {
  expect(await asked('/containers/json', 3 * MIB)).toEqual({ bytes: 3 * MIB });
});

it('AX88: an answer of an engine that has no end is given up', async () => {
  const { bytes, error } = await asked('/containers/json', 12 * MIB);
  expect(error).toMatch(/an answer of more than \d+ bytes/);
  expect(bytes).toBeLessThanOrEqual(4 * MIB);
});

it('the output of a program is as long as it is', async () => {
  expect(await asked('/v1.41/exec/abc/start', 8 * MIB)).toEqual({ bytes: 8 * MIB });
});
