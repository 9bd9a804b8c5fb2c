import { type ProcessSpec } from '@litterbox/core/provider';

/** The same program with other words behind its name, scripts among them: for what breaks a provider from outside. */
export function rewritten(spec: ProcessSpec, change: (word: string) => string): ProcessSpec {
  const [first, ...rest] = spec.argv;
  return { ...spec, argv: [first, ...rest.map(change)] };
}
