import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { CliFixture } from './cli-fixture.ts';

/** Asks the gate for a host, by bash alone. */
const ask = (host: string) =>
  `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT ${host}:443 HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3 >answer; grep -q 'answered 418' answer`;

describe("the person's own proxy", () => {
  it('FC-20: is asked by the setup and by commands, whichever program of Litterbox has the sandbox then', async () => {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (head) => {
        asked.push(head.toString('latin1').split('\r\n', 1)[0] ?? '');
        socket.end('HTTP/1.1 418 no\r\n\r\n');
      });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      await using fixture = new CliFixture();
      const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      fixture.file(
        '.litterbox.toml',
        '[network]\nsetup = "allow-list"\nrun = "allow-list"\nallow = ["*.example.org"]\n',
      );
      fixture.git('add', '-A');
      fixture.git('commit', '-qm', 'network');
      const run = async (...args: readonly string[]) => {
        const { code, stderr } = await fixture.run(args, undefined, { HTTPS_PROXY, NO_PROXY: 'localhost' });
        expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      };
      await run('trust', '--yes');
      await run('create', 'x', '--setup', ask('setup.example.org'), '--allow-degraded');
      await run('run', 'x', ask('run.example.org'));
      expect(asked).toEqual(['CONNECT setup.example.org:443 HTTP/1.1', 'CONNECT run.example.org:443 HTTP/1.1']);
    } finally {
      proxy.close();
    }
  });
});
