import type { Assurance, Control } from '@litterbox/core/provider';
import type { ExpectedPlace } from './expected-place.ts';
import { judgeDisk, judgeLimits } from './judge-limits.ts';
import { judgeFiles, judgeKernelFiles } from './judge-mounts.ts';
import { judgeDescriptors, judgeEnvironment } from './judge-process.ts';
import { controlOf, type Judged, type Rule } from './control-rule.ts';
import type { KernelFacts } from './kernel-facts.ts';

/** One for each control, in the order in which people read them. */
const RULES: readonly Rule[] = [
  judgeNamespaces,
  judgeUser,
  judgeCapabilities,
  ({ facts: { status } }) =>
    controlOf('no-new-privileges', status['NoNewPrivs'] === '1', `NoNewPrivs ${status['NoNewPrivs']}`),
  judgeSystemCalls,
  ({ facts }) => controlOf('network', facts.separateNamespaces['net'] === true, 'no interface but loopback'),
  judgeFiles,
  judgeKernelFiles,
  judgeEnvironment,
  judgeDescriptors,
  ...judgeLimits,
  judgeDisk,
];

/** Judges what the kernel said, control by control. Nothing here is taken from what was asked for. */
export function judgeFacts(expected: ExpectedPlace, facts: KernelFacts): Assurance {
  const { provider, mechanism, readable, masked, unreachable } = expected;
  return {
    provider,
    mechanism,
    controls: RULES.map((rule) => rule({ expected, facts })),
    readable,
    ...(masked && masked.length > 0 && { masked }),
    ...(unreachable && unreachable.length > 0 && { unreachable }),
  };
}

function judgeNamespaces({ expected: { hasOwnUsers }, facts }: Judged): Control {
  const joint = Object.entries(facts.separateNamespaces)
    .filter(([name, isSeparate]) => !isSeparate && (name !== 'user' || hasOwnUsers))
    .map(([name]) => name);
  const own = `own ${hasOwnUsers ? 'user, ' : ''}process, network, IPC, host name, control group and mount namespaces`;
  return controlOf(
    'namespaces',
    joint.length === 0,
    joint.length === 0 ? own : `shares with the host: ${joint.join(', ')}`,
  );
}

function judgeUser({ expected: { hasOwnUsers }, facts: { status, uidMap } }: Judged): Control {
  if (hasOwnUsers)
    return controlOf(
      'user',
      uidMap[1] !== undefined && uidMap[1] > 0 && uidMap[2] === 1,
      `user ${uidMap[0]} inside is user ${uidMap[1]} outside, and no other exists`,
    );
  // Real, effective, saved and for files: where there is no map of its own, each as the host counts.
  const users = (status['Uid'] ?? '0').split(/\s+/).map(Number);
  return controlOf(
    'user',
    users.every((user) => user > 0),
    `user ${users[0]}, inside and outside: it has no user namespace`,
  );
}

function judgeCapabilities({ facts: { status } }: Judged): Control {
  const held = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter((set) => !/^0+$/.test(status[set] ?? 'x'));
  const finding = held.length === 0 ? 'none, and none can be gained' : `not empty: ${held.join(', ')}`;
  return controlOf('capabilities', held.length === 0, finding);
}

function judgeSystemCalls({ facts: { status } }: Judged): Control {
  const isFiltered = status['Seccomp'] === '2';
  const finding = isFiltered ? `a filter is loaded (${status['Seccomp_filters'] ?? '1'})` : 'no filter';
  return controlOf('system-calls', isFiltered, finding);
}
