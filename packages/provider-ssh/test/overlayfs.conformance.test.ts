import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider } from '@litterbox/conformance';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { hostOverSsh } from './host-over-ssh.ts';

const over = await hostOverSsh();
const { host, directory } = over;
afterAll(async () => await over[Symbol.asyncDispose]());

describeSandboxProvider({
  name: 'overlayfs over SSH',
  runner: { describe, it, afterAll },
  open: async () => overlayfs({ host, facts: await host.facts(), directory }),
  host,
  timeoutMs: 300_000,
});
