import type { MachineLoad } from './machine-load.ts';
import type { PlacedHost, Placement } from './placement.ts';
import { visibleName } from '../text/visible.ts';

const GIB = 2 ** 30;

/** Why a sandbox is where it is: one line for each machine that was named, the best first. Safe on a terminal. */
export const placementLines = ({ hosts, memoryBytes }: Placement): readonly string[] =>
  hosts.map((host) => `${host.host}: ${verdictOf(host, memoryBytes)}`);

function verdictOf({ verdict, load, promisedBytes = 0, reason = '' }: PlacedHost, memoryBytes: number): string {
  const measured = load === undefined ? '' : measure(load, promisedBytes);
  switch (verdict) {
    case 'chosen':
      return `chosen, ${measured}`;
    case 'spare':
      return `came after it, ${measured}`;
    case 'too-small':
      return `too small for ${gib(memoryBytes)}, ${measured}`;
    case 'unusable':
    case 'silent':
      return `passed over, ${visibleName(reason, 300)}`;
  }
}

function measure({ memoryBytes, availableBytes, load, processors, roundTripMs }: MachineLoad, promisedBytes: number) {
  const promised = promisedBytes > 0 ? `, ${gib(promisedBytes)} promised to sandboxes` : '';
  return `${gib(availableBytes)} of ${gib(memoryBytes)} free${promised}, load ${load.toFixed(2)} on ${processors} ${processors === 1 ? 'processor' : 'processors'}, ${Math.round(roundTripMs)} ms away`;
}

const gib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;
