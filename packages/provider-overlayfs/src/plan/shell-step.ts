import type { PlanEntry } from '@litterbox/linux-sandbox';

/** A step that is rare and needs other programs. The text calls a function `fail` with what the session then fails with. */
export const shellStep = (text: string): PlanEntry => ['shell', `fail() { printf %s "$1" >&2; exit 1; }\n${text}`];
