import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { engineError } from '../engine/engine-error.ts';
import { notStarted } from './not-started.ts';

const words = {
  provider: 'podman',
  kind: 'podman',
  title: 'Podman',
  startHint: 'Start it.',
  permissionHint: 'Ask for it.',
} as const;
const said = 'crun: cgroups in hybrid mode not supported, drop all controllers from cgroupv2: OCI runtime error';
const failed = (statusCode: number) =>
  engineError(words, 'provider.start', undefined, Object.assign(new Error(said), { statusCode }));

test('what keeps a container from starting is told in the words of whoever makes it, all of them', () => {
  expect(notStarted(words, failed(500))).toMatchObject({
    code: 'UNAVAILABLE',
    message: `Podman could not start the container. It says: ${said}`,
    details: { hint: 'Check that podman run works; this is not specific to Litterbox.' },
  });
});

test('another failure stays what it is', () => {
  for (const error of [failed(404), new LitterboxError('DISK_FULL', 'full', { operation: 'x' }), new Error('other')])
    expect(notStarted(words, error)).toBe(error);
});
