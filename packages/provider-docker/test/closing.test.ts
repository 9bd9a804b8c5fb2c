import { describe, expect, it } from '@jest/globals';
import { forBackend } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';
import { Sandboxes } from './sandboxes.ts';

/** More than is held of what nobody reads: who started it does not hear that it has ended. */
const UNREAD = { argv: ['sh', '-c', 'head -c 4000000 /dev/zero; exec sleep 1000'] } as const;

const suite = await forBackend('docker', { describe, it }, absence);

suite.describe('a sandbox with output that nobody reads', () => {
  suite.it('can be stopped by another program, and is not started by telling its processes that they end', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    await runtime.spawn(UNREAD);
    const other = docker({
      host: localHost(),
      facts: await localHost().facts(),
      directory: sandboxes.directory,
      socket: TEST_SOCKET,
    });
    await using opened = await other.open(runtime.id);
    expect((await opened.usage()).processes).toBeGreaterThan(0); // positive control
    await opened.stop();
    await runtime[Symbol.asyncDispose]();
    expect((await opened.usage()).processes).toBe(0);
  });
});
