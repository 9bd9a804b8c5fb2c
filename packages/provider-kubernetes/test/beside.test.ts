import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, forBackend } from '@litterbox/conformance';
import { absence } from './cluster.ts';
import { providerOf, sandboxIn } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);
const root = { type: 'image', reference: 'debian:bookworm' } as const;
const ASK = `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("127.0.0.1:7777") or die "no answer\\n"; print <$s>'`;

runner.describe('the container beside that of a sandbox', () => {
  runner.it('AX147: its programs, files and sockets are out of the sight and the reach of an agent', async () => {
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider, { root });
    const { runtime } = sandbox;
    const sh = async (script: string) =>
      (await collected(await runtime.spawn({ argv: ['sh', '-c', `${script}\n:`] }))).stdout;
    await using _port = await runtime.listen?.(7777, (stream) => {
      void (async () => {
        const writer = stream.writable.getWriter();
        await writer.write(new TextEncoder().encode('from outside\n'));
        await writer.close();
      })();
    });
    expect(await sh(ASK)).toBe('from outside\n');
    // Every process but the first is the agent's own.
    expect(await sh('cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c [S]ocket')).toBe('0\n');
    expect(await sh('ls -d /litterbox; find / -xdev -type s; find / -xdev -name "sockets" -user "$(id -u)"')).toBe('');
    await sh('kill -KILL -1');
    expect(await sh(ASK)).toBe('from outside\n');
    expect(
      await sh(
        `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1:7777", Listen => 1) ? "taken" : "kept"'`,
      ),
    ).toBe('kept');
  });

  runner.it('an image without Perl has no ports, and says so by having none', async () => {
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider);
    expect([sandbox.runtime.connect, sandbox.runtime.listen]).toEqual([undefined, undefined]);
  });
});
