import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, describeSnapshotProvider, forBackend } from '@litterbox/conformance';
import { docker } from '@litterbox/provider-docker';
import { openSshHost } from '@litterbox/provider-ssh';
import { SshServer } from './ssh-server.ts';

/** Where tools/test-host/docker.sh lets the engine of the tests listen. */
const SOCKET = '/var/lib/litterbox-test/run/docker.sock';

const server = await SshServer.start();
const directory = await mkdtemp(join(tmpdir(), 'litterbox-over-ssh-'));
const host = await openSshHost({
  destination: server.destination,
  identityFile: server.identityFile,
  client: { home: server.home, environment: {} },
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});
const open = async () => docker({ host, facts: await host.facts(), directory, socket: SOCKET });
const runner = await forBackend('docker', { describe, it, afterAll }, async () => {
  const { usable, checks } = await (await open()).probe();
  return usable ? undefined : checks.find(({ status }) => status === 'failed')?.finding;
});
const options = {
  name: 'docker over SSH',
  runner,
  open,
  host,
  timeoutMs: 300_000,
  root: { type: 'image', reference: 'busybox:latest' } as const,
};
describeSandboxProvider(options);
describeSnapshotProvider(options);
