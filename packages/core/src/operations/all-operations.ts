import type { Operation } from './declare/operation.ts';
import * as operations from './operations.ts';

/** Every operation, in the order of their names. */
export const OPERATIONS: readonly Operation[] = Object.values(operations).toSorted((one, other) =>
  one.name < other.name ? -1 : 1,
);
