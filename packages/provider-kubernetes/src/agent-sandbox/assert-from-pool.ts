import { LitterboxError, shown } from '@litterbox/core/provider';
import { CONTAINER } from '../pod-exec.ts';
import { list, object, text } from '../api/untrusted.ts';
import { poolOf } from './makers.ts';
import type { PodMeta, PodState } from '../pod-meta.ts';

/** Refuses a pod of a pool that has another image than was asked for. @throws LitterboxError `UNSUPPORTED` */
export function assertFromPool(provider: string, { maker, image }: PodMeta, { spec }: PodState): void {
  const pool = poolOf(maker);
  if (pool === undefined) return;
  const own = list(spec['containers'])
    .map(object)
    .find(({ name }) => name === CONTAINER);
  const found = text(own?.['image']);
  if (found === image) return;
  throw new LitterboxError(
    'UNSUPPORTED',
    `The pods of the pool ${pool} have the image ${shown(found)}, not ${shown(image)}.`,
    {
      operation: 'provider.create',
      provider,
      hint: 'Set container.base-image to that of the template, or change the template.',
    },
  );
}
