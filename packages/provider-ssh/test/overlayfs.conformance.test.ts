import { existsSync } from 'node:fs';
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
  // Version 1 of control groups bounds no speed.
  lacking: over.user === 'root' && !existsSync('/sys/fs/cgroup/cgroup.controllers') ? ['disk-speed'] : [],
  timeoutMs: 300_000,
});
