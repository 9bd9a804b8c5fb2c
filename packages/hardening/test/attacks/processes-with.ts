import { readdirSync, readFileSync } from 'node:fs';

/** Processes of the whole machine with this text in their arguments. */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(text))
    .map(Number);
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return ''; // it ended
  }
}
