import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { EngineOverSsh } from './engine-over-ssh.ts';

// The whole kit over Podman behind an SSH server: the part kit-podman-over-ssh of npm run test:deep.
const over = await EngineOverSsh.start('podman');
afterAll(() => over[Symbol.asyncDispose]());
describeSandboxProvider({
  name: 'podman behind an SSH server',
  runner: { describe, it, afterAll },
  open: () => over.provider(),
  host: localHost(),
  timeoutMs: 300_000,
  lacking: ['disk', 'copies'],
  root: { type: 'image', reference: 'debian:bookworm' }, // its Perl reaches ports
});
