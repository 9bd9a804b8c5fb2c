import { describe, expect, it } from '@jest/globals';
import { type Assurance, type Control, CONTROLS, type ControlName } from '@litterbox/core/provider';
import { assertControls } from '../src/assert-controls.ts';
import type { PodMeta } from '../src/pod-meta.ts';
import { TRAITS } from '../src/traits.ts';

const found = (name: ControlName, status: Control['status']): Assurance => ({
  provider: 'kubernetes',
  mechanism: 'a pod',
  controls: CONTROLS.map((each) => ({
    name: each,
    status: each === name ? status : 'enforced',
    finding: each,
    remedy: 'Mend it.',
  })),
  readable: [],
});
const asked = (assurance: Assurance, meta: object = {}) =>
  assertControls({
    provider: 'kubernetes',
    traits: TRAITS,
    meta: { limits: {}, allowDegraded: false, ...meta } as PodMeta,
    found: assurance,
    look: async () => found('disk', 'enforced'),
  }).catch((error: unknown) => error);

describe('the controls of a pod that has just begun', () => {
  it('AX148: what tells of the node is told and refuses nothing, what holds its secrets refuses', async () => {
    expect(await asked(found('kernel-files', 'weak'))).toMatchObject({ mechanism: 'a pod' });
    const error = await asked(found('kernel-files', 'absent'));
    expect(error).toMatchObject({ code: 'DEGRADED', details: { facts: { missing: ['kernel-files'] } } });
  });

  it.each(CONTROLS.filter((name) => !['disk', 'kernel-files'].includes(name)))('%s has to hold', async (name) => {
    expect(await asked(found(name, 'weak'))).toMatchObject({ code: 'DEGRADED' });
  });

  it('a person may go without a control, but never with a network that is open or that nobody tried', async () => {
    expect(await asked(found('processes', 'absent'), { allowDegraded: true })).toMatchObject({ mechanism: 'a pod' });
    expect(await asked(found('network', 'weak'), { allowDegraded: true })).toMatchObject({ code: 'DEGRADED' });
  });

  it('a policy that is a moment late is waited for', async () => {
    expect(await asked(found('network', 'absent'))).toEqual(found('disk', 'enforced'));
  });

  it('a volume that is larger than the limit refuses it', async () => {
    const limits = { diskBytes: 2 ** 30 };
    expect(await asked(found('disk', 'absent'), { limits })).toMatchObject({ code: 'UNSUPPORTED' });
    expect(await asked(found('disk', 'enforced'), { limits })).toMatchObject({ mechanism: 'a pod' });
  });
});
