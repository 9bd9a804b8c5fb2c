import { INSIDE } from '@litterbox/core/provider';

/** Where a sandbox has the session program, which its first process runs; read-only. */
export const FIRST_PROGRAM = `${INSIDE.io}-init`;

/** Program and arguments of process 1 of a sandbox that the session program starts. It takes a plan for each process. */
export const PLACE_ARGUMENTS: readonly [string, ...string[]] = [FIRST_PROGRAM, 'place', INSIDE.io];
