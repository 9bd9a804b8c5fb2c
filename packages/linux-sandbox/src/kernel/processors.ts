/** Processors by their numbers, as the kernel writes them: `0-3,6`. What is no list of numbers is none. */
export function parseProcessors(list: string): readonly number[] {
  const numbers = list
    .trim()
    .split(',')
    .flatMap((part) => {
      const [, first, last] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
      if (first === undefined) return [];
      const count = Number(last ?? first) - Number(first) + 1;
      return Array.from({ length: Math.max(0, count) }, (_, index) => Number(first) + index);
    });
  return [...new Set(numbers)].sort((one, other) => one - other);
}

/** The processors on which a process may run. @param status content of its `/proc/<pid>/status` */
export function allowedProcessors(status: string): readonly number[] {
  return parseProcessors(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '');
}

/** How many processors programs see that may use so many at once: whole ones. */
export const wholeProcessors = (cpus: number) => Math.max(1, Math.ceil(cpus));

/**
 * Which processors a sandbox gets: those that the fewest others have. A processor limit of the kernel alone leaves programs to
 * see all of the machine, and to start as many threads.
 *
 * @param available those on which programs may run here; none when that is not known
 * @param taken what other sandboxes have, a list each
 */
export function chooseProcessors(
  available: readonly number[],
  cpus: number,
  taken: readonly (readonly number[])[],
): readonly number[] {
  const users = new Map(available.map((processor) => [processor, 0]));
  for (const processor of taken.flat()) {
    const count = users.get(processor);
    if (count !== undefined) users.set(processor, count + 1);
  }
  return [...users]
    .sort(([one, its], [other, others]) => its - others || one - other)
    .slice(0, wholeProcessors(cpus))
    .map(([processor]) => processor)
    .sort((one, other) => one - other);
}
