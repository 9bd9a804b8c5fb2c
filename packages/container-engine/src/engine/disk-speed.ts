import { type CallOptions, type Host, LitterboxError, type ProviderKey } from '@litterbox/core/provider';
import { assertToldWrites, noDiskSpeed, runScript, runScriptOrFail } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import type { EngineFacts } from './engine-facts.ts';

/** Where containers are bounded: the machine of the provider, and what is kept of them there. */
export interface DiskSpeedPlace {
  readonly provider: ProviderKey;
  readonly host: Host;
  /** Absolute path of the provider's own directory, which is there. */
  readonly root: string;
  /** The host is a container of the engine's own. */
  readonly isConfined: boolean;
}

/** Disks with hardware behind them: what lies on disks, such as a loop device, reads and writes in the name of the same group. */
const LIST_DISKS = `for d in /sys/block/*; do [ -e "$d/device" ] && [ -b "/dev/\${d##*/}" ] && echo "/dev/\${d##*/}"; done; :`;
const HINT = 'Leave it out, or use a rootful engine on a machine with version 2 of control groups.';

/** @throws LitterboxError `UNSUPPORTED` where nothing bounds what a container reads and writes in a second */
export async function assertDiskSpeed(place: DiskSpeedPlace, facts: EngineFacts, options?: CallOptions): Promise<void> {
  const { provider, isConfined } = place;
  if (isConfined) throw noDiskSpeed(provider, 'the disks of an engine with files of its own are not seen here', HINT);
  if (facts.isRootless) throw noDiskSpeed(provider, 'a rootless engine is handed no control group for it', HINT);
  if (facts.cgroupVersion !== '2')
    throw noDiskSpeed(provider, 'version 1 of control groups does not bound what the kernel writes back later', HINT);
  await assertToldWrites(provider, place, options);
  if ((await disksOf(place.host, options)).length === 0)
    throw noDiskSpeed(provider, 'no disk with hardware behind it is seen here', HINT);
}

/** What bounds reads and writes of a container on each disk, in the engine's words. */
export async function diskSpeedOptions(
  host: Host,
  bytesPerSecond: number,
  options?: CallOptions,
): Promise<Pick<Docker.HostConfig, 'BlkioDeviceReadBps' | 'BlkioDeviceWriteBps'>> {
  const rates = (await disksOf(host, options)).map((Path) => ({ Path, Rate: bytesPerSecond }));
  return { BlkioDeviceReadBps: rates, BlkioDeviceWriteBps: rates };
}

/**
 * Sees that the kernel has taken the limit: an engine may drop it in silence.
 *
 * @param pid of the container's first process
 * @throws LitterboxError `DEGRADED`
 */
export async function assertDiskSpeedHolds(
  { provider, host }: Pick<DiskSpeedPlace, 'provider' | 'host'>,
  pid: number,
  bytesPerSecond: number,
  options?: CallOptions,
): Promise<void> {
  const script = `group=$(sed -n 's/^0:://p' /proc/${pid}/cgroup)
while [ "$group" ] && [ "$group" != / ]; do
! grep -q 'rbps=${bytesPerSecond} wbps=${bytesPerSecond}' "/sys/fs/cgroup$group/io.max" 2>/dev/null || exit 0
group=\${group%/*}
done
exit 1`;
  const { code } = await runScript(host, script, options);
  if (code === 0) return;
  throw new LitterboxError('DEGRADED', 'The engine did not bound the speed of the disk.', {
    operation: 'provider.start',
    provider,
    hint: HINT,
  });
}

async function disksOf(host: Host, options?: CallOptions): Promise<readonly string[]> {
  const text = await runScriptOrFail(host, 'provider.create', LIST_DISKS, options);
  return text.split('\n').filter((line) => /^\/dev\/[A-Za-z0-9!_-]+$/.test(line));
}
