import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { forBackend } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';
import { Sandboxes } from './sandboxes.ts';

/** More than is held of what nobody reads: who started it does not hear that it has ended. */
const UNREAD = { argv: ['sh', '-c', 'head -c 4000000 /dev/zero; exec sleep 1000'] } as const;

const FIRST_CHILD = fileURLToPath(new URL('first-child.ts', import.meta.url));

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

suite.describe('a program that made the first sandbox on an engine', () => {
  suite.it('ends when it is done, and waits for no answer that it has', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
    const child = spawn(
      process.execPath,
      ['--conditions=@litterbox/source', '--no-warnings', FIRST_CHILD, TEST_SOCKET, directory],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = new Promise((resolve) => child.once('close', resolve));
    const said = await new Promise<string>((resolve) => child.stdout.once('data', (bytes) => resolve(String(bytes))));
    expect(said).toBe('done\n');
    // An engine may take a minute to answer, which is how long a question that is never closed holds a program.
    const late = delay(30_000, 'late', { ref: false });
    expect(await Promise.race([ended, late])).toBe(0);
    await rm(directory, { recursive: true, force: true });
  });
});
