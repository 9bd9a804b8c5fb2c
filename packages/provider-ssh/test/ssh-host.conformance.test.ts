import { afterAll, describe, it } from '@jest/globals';
import { describeHost } from '@litterbox/conformance';
import { openSshHost } from '@litterbox/provider-ssh';
import { SshServer } from '@litterbox/testing';

const server = await SshServer.startApart();
afterAll(() => server[Symbol.asyncDispose]());

describeHost({
  name: 'a machine over SSH',
  runner: { describe, it, afterAll },
  open: () => openSshHost(server.login),
  directory: async () => server.directory,
});
