import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider } from '@litterbox/conformance';
import { EngineOverTls } from './engine-over-tls.ts';

// The whole kit over an engine on a port, by TLS, that does not see this machine's files: the part kit-over-tls of npm run test:deep.
const over = await EngineOverTls.start({ hasDebian: true });
afterAll(() => over[Symbol.asyncDispose]());
const host = over.host();
describeSandboxProvider({
  name: 'docker over TLS',
  runner: { describe, it, afterAll },
  open: () => over.provider(host),
  host,
  timeoutMs: 180_000,
  lacking: ['disk', 'disk-speed', 'copies'],
  root: { type: 'image', reference: 'debian:bookworm' }, // its Perl reaches ports
});
