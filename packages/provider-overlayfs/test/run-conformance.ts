import { afterAll, describe, it } from '@jest/globals';
import {
  describeSandboxProvider,
  describeSnapshotProvider,
  forBackend,
  type KitGroup,
  someGroups,
} from '@litterbox/conformance';
import type { Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { absence, backendDirectory, isRoot, removeBackend, type StrategyName } from './backends.ts';

/** The kit over one way of copying, on one host. @param groups what depends on them; the whole kit without */
export async function runConformance(
  strategy: StrategyName,
  host: Host = localHost(),
  name = `overlayfs, ${strategy}`,
  groups?: readonly KitGroup[],
): Promise<void> {
  const directory = await backendDirectory(strategy);
  afterAll(() => removeBackend(directory));
  const runner = await forBackend(`overlayfs-${strategy}`, { describe, it, afterAll }, () => absence(host, strategy));
  const options = {
    name,
    runner: groups ? someGroups(runner, groups) : runner,
    open: async () => overlayfs({ host, directory, strategy }),
    host,
    timeoutMs: 180_000,
  };
  describeSandboxProvider(options);
  describeSnapshotProvider(options);
}

/** What depends on the way of copying where the same code copies with another flag, or for another user. */
export const OF_CLONES: readonly KitGroup[] = ['traits', 'copies', 'snapshots'];
/** What the way of copying has a part in. */
export const OF_COPYING: readonly KitGroup[] = isRoot
  ? ['traits', 'changes', 'hostile trees', 'setups', 'copies', 'snapshots']
  : OF_CLONES;

/** What depends on who runs it. */
const OF_USERS: readonly KitGroup[] = [
  'lifecycle',
  'isolation',
  'limits',
  'run states',
  'hostile trees',
  'setups',
  'copies',
  'connections',
  'snapshots',
];

/** The whole kit; what is of interest where an ordinary user runs after root. */
export const groupsOfOverlay = process.env['LITTERBOX_TEST_AGAIN'] ? OF_USERS : undefined;
