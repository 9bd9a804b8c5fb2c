import { expect, test } from '@jest/globals';
import type { Host, HostFacts } from '@litterbox/core/provider';
import { PROVIDERS } from './providers.ts';

const machine = {
  host: { name: 'build-box', environment: {} } as Host,
  facts: { platform: 'linux', uid: 0, gid: 0 } as HostFacts,
  directory: '/var/lib/litterbox',
};

test('what needs neither engine nor image is preferred, and a cluster is only for who names it', () => {
  expect(PROVIDERS.map(({ kind, hasOwnPlaces }) => (hasOwnPlaces ? `named ${kind}` : kind))).toEqual([
    'overlayfs',
    'docker',
    'podman',
    'named kubernetes',
  ]);
});

test.each(PROVIDERS)(
  '$kind is called as it is asked for, and by its kind where nobody says',
  async ({ kind, load }) => {
    const factory = await load();
    expect(factory(machine).name).toBe(kind);
    expect(factory({ ...machine, key: `${kind}@build-box` }).name).toBe(`${kind}@build-box`);
  },
);

test.each(PROVIDERS.filter(({ hasOwnPlaces }) => !hasOwnPlaces))(
  '$kind promises a limit of the disk to root of its machine alone',
  async ({ load }) => {
    const limitsOf = (factory: Awaited<ReturnType<typeof load>>, uid: number) =>
      factory({ ...machine, facts: { ...machine.facts, uid } }).traits.limits;
    const factory = await load();
    expect(limitsOf(factory, 0)).toContain('diskBytes');
    expect(limitsOf(factory, 1000)).not.toContain('diskBytes');
  },
);
