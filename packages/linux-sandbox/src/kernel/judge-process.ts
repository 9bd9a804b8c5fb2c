import type { Control } from '@litterbox/core/provider';
import { controlOf, type Judged } from './control-rule.ts';
import { PROGRAM } from './kernel-facts.ts';

export function judgeEnvironment({ expected, facts }: Judged): Control {
  const visible = facts.visibleEnvironment.filter((name) => !expected.environment?.includes(name));
  const finding =
    visible.length === 0 ? "nothing of the host's environment can be read" : `can be read: ${visible.join(', ')}`;
  return controlOf('environment', visible.length === 0, finding);
}

export function judgeDescriptors({ facts: { descriptors, doors, mounts } }: Judged): Control {
  // 7 is the FIFO by which the host asks for processes; what is started does not get it.
  const strange = descriptors.filter((descriptor) => descriptor > 2 && descriptor !== 7);
  const isProgramKnown = doors.some(({ what }) => what === PROGRAM);
  const leading = doors.filter(({ mount }) => !mounts.some(({ id }) => id === mount)).map(({ what }) => what);
  const outside = isProgramKnown ? [...new Set(leading)] : [PROGRAM];
  if (strange.length > 0) return controlOf('descriptors', false, `inherited: ${strange.join(', ')}`);
  if (outside.length > 0) return controlOf('descriptors', false, `leads out of the sandbox: ${outside.join(', ')}`);
  return controlOf('descriptors', true, 'none inherited, and none leads out');
}
