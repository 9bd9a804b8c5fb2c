import { readdirSync, readFileSync } from 'node:fs';

/** Processes of the whole machine with this text in their arguments. */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => argumentsOf(pid).includes(text));
}

/** The arguments of a process, apart by blanks; nothing when it has ended. */
export function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return ''; // it ended
  }
}
