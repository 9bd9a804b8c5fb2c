import type { SecretOrigin } from './secret-origin.ts';

/** A secret that commands of a sandbox hold themselves, in a variable. Its value is nowhere in it. */
export interface ExposedSecret {
  readonly name: string;
  readonly variable: string;
  readonly origin: SecretOrigin;
}

/** A secret as a configuration names it: where it is kept, and the variable that commands find it in, if any. */
export type ConfiguredSecret = SecretOrigin & { readonly expose?: string };

/** Where it is kept alone. */
export function originOf({ expose: _expose, ...origin }: ConfiguredSecret): SecretOrigin {
  return origin;
}
