import { setTimeout as delay } from 'node:timers/promises';
import {
  type Assurance,
  type CallOptions,
  LitterboxError,
  type ProviderTraits,
  refusedControls,
} from '@litterbox/core/provider';
import type { PodMeta } from './pod-meta.ts';

/** How long a network plugin may take to shut a new pod in. */
const ENFORCED_MS = 5_000;
const LOOK_AGAIN_MS = 250;

export interface ControlsInput {
  readonly provider: string;
  readonly traits: ProviderTraits;
  readonly meta: PodMeta;
  /** The controls at the first look. */
  readonly found: Assurance;
  /** Looks again. */
  readonly look: (options?: CallOptions) => Promise<Assurance>;
}

/**
 * Refuses a pod that has just begun and lacks a control; else gives its controls. A network plugin may be a moment late with its policy: nothing of an agent's runs before it is
 * there.
 *
 * @throws LitterboxError `DEGRADED` when a control is missing and nobody allowed that; `UNSUPPORTED` when the disk has no such bound
 */
export async function assertControls(input: ControlsInput, options?: CallOptions): Promise<Assurance> {
  const { provider, traits, meta, look } = input;
  const begun = performance.now();
  let assurance = input.found;
  while (isOpen(assurance) && performance.now() - begun < ENFORCED_MS) {
    await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
    assurance = await look(options);
  }
  // A person who allows a sandbox without some control has not meant a network to everywhere: that is never handed out.
  const missing = refusedControls(assurance, traits).filter(({ name }) => name === 'network' || !meta.allowDegraded);
  if (missing.length > 0)
    throw new LitterboxError(
      'DEGRADED',
      `The sandbox would run without: ${missing.map(({ name, finding }) => `${name} (${finding})`).join('; ')}.`,
      {
        operation: 'provider.create',
        provider,
        hint: missing.some(({ name }) => name === 'network')
          ? missing.find(({ name }) => name === 'network')?.remedy
          : `${missing[0]?.remedy ?? ''} To go on without it: --allow-degraded.`,
        facts: { missing: missing.map(({ name }) => name) },
      },
    );
  const disk = assurance.controls.find(({ name }) => name === 'disk');
  if (meta.limits.diskBytes === undefined || disk?.status === 'enforced') return assurance;
  throw new LitterboxError('UNSUPPORTED', `limits.disk does not hold in this cluster: ${disk?.finding}.`, {
    operation: 'provider.create',
    provider,
    hint: 'Set limits.disk to a size that the cluster gives, or leave it out.',
  });
}

const isOpen = ({ controls }: Assurance) =>
  controls.some(({ name, status }) => name === 'network' && status === 'absent');
