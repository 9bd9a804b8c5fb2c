import type { PlanEntry } from './plan-entry.ts';

/** Layers of one directory and where another one has them. Paths are absolute. */
export interface CopiedLayers {
  /** Directory of one mount that holds both. */
  readonly root: string;
  readonly layers: readonly { readonly name: string; readonly kind?: 'tree' | 'some' | 'upper' }[];
  readonly from: string;
  readonly to: string;
  /** Kind, source and place of what is copied besides. */
  readonly more?: readonly (readonly [kind: 'tree' | 'file', from: string, to: string])[];
}

/** The entry `copies` of a plan of the session program (`packages/session-program/src/copies.h`); undefined where it takes other programs. */
export function copiesPlan({ root, layers, from, to, more = [] }: CopiedLayers): PlanEntry | undefined {
  const trees: string[] = [];
  for (const { name, kind } of layers) {
    if (kind === undefined) return undefined;
    trees.push(kind, `${from}/${name}`, `${to}/${name}`);
  }
  return ['copies', root, ...trees, ...more.flat()];
}
