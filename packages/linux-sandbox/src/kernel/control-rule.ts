import type { Control, ControlName } from '@litterbox/core/provider';
import type { ExpectedPlace } from './expected-place.ts';
import type { KernelFacts } from './kernel-facts.ts';

/** The wanted sandbox, and what the kernel said of it. */
export interface Judged {
  readonly expected: ExpectedPlace;
  readonly facts: KernelFacts;
}

/** Judges one control. */
export type Rule = (place: Judged) => Control;

const REPORT = 'This should not happen on a supported machine: report it, with all that the check of the machine says.';

export const controlOf = (name: ControlName, isEnforced: boolean, finding: string, remedy = REPORT): Control =>
  isEnforced ? { name, status: 'enforced', finding } : { name, status: 'absent', finding, remedy };
