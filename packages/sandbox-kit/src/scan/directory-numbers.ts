import type { ChangeMark } from '@litterbox/core/provider';

type Numbers = readonly (readonly [path: string, inode: string])[];

/** Numbers of directories, as a scanner keeps them between processes. */
export interface DirectoryNumbers {
  readonly known: Numbers;
  /** Those of a scan whose changes may not be recorded. */
  readonly pending?: { readonly next: ChangeMark; readonly numbers: Numbers };
}

/** Nothing is known: the next scan looks at more than it has to. */
export const NO_NUMBERS: DirectoryNumbers = { known: [] };

/** Reads what was kept. The machine may be another one, and may have written anything: what has another shape is none, which costs only time. */
export function parseKeptNumbers(text: string): DirectoryNumbers {
  try {
    const kept = JSON.parse(text) as Readonly<Record<'known' | 'pending', unknown>> | null;
    if (!areNumbers(kept?.known)) return NO_NUMBERS;
    const pending = kept?.pending as Readonly<Record<'next' | 'numbers', unknown>> | null | undefined;
    if (typeof pending?.next !== 'string' || !areNumbers(pending.numbers)) return { known: kept.known };
    return { known: kept.known, pending: { next: pending.next, numbers: pending.numbers } };
  } catch {
    return NO_NUMBERS;
  }
}

const areNumbers = (value: unknown): value is Numbers =>
  Array.isArray(value) &&
  value.every((pair: unknown) => Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string');
