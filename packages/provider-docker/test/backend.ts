import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';

/** Where tools/test-host/docker.sh lets the engine of the tests listen. */
export const TEST_SOCKET = '/var/lib/litterbox-test/run/docker.sock';

/** Why the engine of the tests cannot be used, if so. */
export async function absence(): Promise<string | undefined> {
  const { usable, checks } = await docker({
    host: localHost(),
    facts: await localHost().facts(),
    directory: '/nowhere',
    socket: TEST_SOCKET,
  }).probe();
  return usable ? undefined : checks.find(({ status }) => status === 'failed')?.finding;
}
