import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';
import { PrivateEngine } from './private-engine.ts';

// The whole kit over an engine that does not see this machine's files: the part kit-foreign-files of npm run test:deep.
const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
const engine = await PrivateEngine.start({ hidden: directory, hasDebian: true });
afterAll(() => engine[Symbol.asyncDispose]());
const host = localHost();
describeSandboxProvider({
  name: 'docker, files of its own',
  runner: { describe, it, afterAll },
  open: async () => docker({ host, facts: await host.facts(), directory, socket: engine.socket }),
  host,
  timeoutMs: 180_000,
  lacking: ['disk', 'disk-speed', 'copies'],
  root: { type: 'image', reference: 'debian:bookworm' }, // its Perl reaches ports
});
