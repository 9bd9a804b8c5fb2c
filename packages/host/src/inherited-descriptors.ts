import { readdirSync, readFileSync } from 'node:fs';

/** The kernel's O_CLOEXEC as `/proc/self/fdinfo` shows it, octal. @see https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html */
const CLOSE_ON_EXEC = 0o2000000;

let inherited: readonly number[] | undefined;

/**
 * Descriptors above 2 that every program started from here would inherit, because whoever started this process left
 * them open without close-on-exec. Node opens all its own with close-on-exec, so one look at the start is enough.
 * Empty in the ordinary case. An editor that starts us with an open key file is the other one (security.md, finding 12).
 */
export function inheritedDescriptors(): readonly number[] {
  inherited ??= readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor));
  return inherited;
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // the descriptor of the directory just read: closed again
  }
}
