import { existsSync } from 'node:fs';
import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, describeSnapshotProvider, forBackend } from '@litterbox/conformance';
import { docker } from '@litterbox/provider-docker';
import { hostOverSsh } from './host-over-ssh.ts';

/** Where tools/test-host/docker.sh lets the engine of the tests listen. */
const SOCKET = '/var/lib/litterbox-test/run/docker.sock';

const over = await hostOverSsh();
const { host, directory } = over;
afterAll(async () => await over[Symbol.asyncDispose]());
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
  lacking: over.user === 'root' && !existsSync('/sys/fs/cgroup/cgroup.controllers') ? (['disk-speed'] as const) : [],
};
describeSandboxProvider(options);
describeSnapshotProvider(options);
