import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider } from '@litterbox/conformance';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { openSshHost } from '@litterbox/provider-ssh';
import { SshServer } from './ssh-server.ts';

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

describeSandboxProvider({
  name: 'overlayfs over SSH',
  runner: { describe, it, afterAll },
  open: async () => overlayfs({ host, facts: await host.facts(), directory }),
  host,
  timeoutMs: 300_000,
});
