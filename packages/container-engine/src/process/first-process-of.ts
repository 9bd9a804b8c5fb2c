/** Linux has no larger number of a process. @see https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html pid_max */
const MAX_PROCESS = 2 ** 22;

/**
 * The number of a container's first process, for paths below `/proc`; 0, which no process has, for whatever else an engine says. It becomes part of
 * scripts, and an engine can be on another machine.
 */
export function firstProcessOf({ State }: { readonly State?: { readonly Pid?: unknown } | null }): number {
  const number = State?.Pid;
  return typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= MAX_PROCESS ? number : 0;
}
