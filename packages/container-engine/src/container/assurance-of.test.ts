import { SandboxId } from '@litterbox/core/provider';
import { expect, test } from '@jest/globals';
import type Docker from 'dockerode';
import { MASKED_PATHS, READONLY_PATHS } from '../inside/kernel-files.ts';
import { assuranceOf } from './assurance-of.ts';
import type { AssuranceInput } from './judge-container.ts';

/** The control of the kernel's files in a container with these masks. */
function statusWith(hostConfig: object) {
  const input = {
    provider: 'docker',
    title: 'Docker',
    facts: { enforced: {} },
    meta: { id: SandboxId.make(), limits: {}, user: { uid: 1000, gid: 1000 } },
    container: { HostConfig: hostConfig, Mounts: [] } as unknown as Docker.ContainerInspectInfo,
    status: new Map(),
    uidMap: [],
  } as unknown as AssuranceInput;
  return assuranceOf(input).controls.find(({ name }) => name === 'kernel-files')?.status;
}

test.each([
  ['ours', { MaskedPaths: MASKED_PATHS, ReadonlyPaths: READONLY_PATHS }, 'enforced'],
  ['those of an engine that does not say', {}, 'enforced'],
  ["the engine's own, which leave what tells of the machine", { MaskedPaths: ['/proc/kcore'] }, 'weak'],
  ['none', { MaskedPaths: [], ReadonlyPaths: READONLY_PATHS }, 'absent'],
])('masks of the kernel are told as what they are: %s', (_title, hostConfig, status) => {
  expect(statusWith(hostConfig)).toBe(status);
});
