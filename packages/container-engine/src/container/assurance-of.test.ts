import { SandboxId } from '@litterbox/core/provider';
import { expect, test } from '@jest/globals';
import type Docker from 'dockerode';
import { MASKED_PATHS, READONLY_PATHS } from '../inside/kernel-files.ts';
import { assuranceOf } from './assurance-of.ts';
import type { AssuranceInput } from './judge-container.ts';

/** A control of a container with this configuration. */
function statusWith(control: string, hostConfig: object) {
  const input = {
    provider: 'docker',
    title: 'Docker',
    facts: { enforced: {} },
    meta: { id: SandboxId.make(), limits: {}, user: { uid: 1000, gid: 1000 } },
    container: { HostConfig: hostConfig, Mounts: [] } as unknown as Docker.ContainerInspectInfo,
    status: new Map(),
    uidMap: [],
  } as unknown as AssuranceInput;
  return assuranceOf(input).controls.find(({ name }) => name === control)?.status;
}

test.each([
  ['ours', { MaskedPaths: MASKED_PATHS, ReadonlyPaths: READONLY_PATHS }, 'enforced'],
  ['those of an engine that does not say', {}, 'enforced'],
  ["the engine's own, which leave what tells of the machine", { MaskedPaths: ['/proc/kcore'] }, 'weak'],
  ['none', { MaskedPaths: [], ReadonlyPaths: READONLY_PATHS }, 'absent'],
])('masks of the kernel are told as what they are: %s', (_title, hostConfig, status) => {
  expect(statusWith('kernel-files', hostConfig)).toBe(status);
});

test.each([
  ['none', 'enforced'],
  [undefined, 'absent'],
  ['json-file', 'absent'],
])('AX191: a log that the engine keeps of what passes is told: %s', (Type, status) => {
  const LogConfig = Type === undefined ? undefined : { Type };
  expect(statusWith('files', { ReadonlyRootfs: true, LogConfig })).toBe(status);
});
