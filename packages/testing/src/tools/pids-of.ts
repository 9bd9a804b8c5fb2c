import { readdirSync, readFileSync } from 'node:fs';

/** Numbers of the programs on this machine, those in sandboxes included, that have a word among their arguments. */
export function pidsOf(word: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^[0-9]+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false; // it has ended
    }
  });
}
