import { localHost } from '@litterbox/host';
import { podman } from '../src/index.ts';

const uid = process.getuid?.() ?? 0;

/** Where tools/test-host/podman.sh lets the engine of this user listen. */
export const TEST_SOCKET = `/var/lib/litterbox-test/run/${uid === 0 ? '' : `user-${uid}/`}podman.sock`;

/** Why the engine of the tests cannot be used, if so. */
export async function absence(): Promise<string | undefined> {
  const { usable, checks } = await podman({
    host: localHost(),
    facts: await localHost().facts(),
    directory: '/nowhere',
    socket: TEST_SOCKET,
  }).probe();
  return usable ? undefined : checks.find(({ status }) => status === 'failed')?.finding;
}
