import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { type EngineKind, EngineOverSsh } from './engine-over-ssh.ts';

/** The whole kit over an engine of the tests whose socket is reached over SSH. */
export async function describeEngineOverSsh(kind: EngineKind): Promise<void> {
  const over = await EngineOverSsh.start(kind);
  afterAll(() => over[Symbol.asyncDispose]());
  describeSandboxProvider({
    name: `${kind} behind an SSH server`,
    runner: { describe, it, afterAll },
    open: () => over.provider(),
    host: localHost(),
    timeoutMs: 300_000,
    lacking: ['disk', 'disk-speed', 'copies'],
    root: { type: 'image', reference: 'debian:bookworm' },
  });
}
