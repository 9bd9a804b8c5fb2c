/** Directories in memory that every sandbox has, besides the small `/run`. */
export const TEMPORARY_DIRECTORIES = ['/tmp', '/var/tmp', '/dev/shm'] as const;

/**
 * What each of them holds at most: half of the memory limit, as machines do it. What is in them counts as memory of the sandbox, so that
 * together they hold no more than that limit.
 */
export function temporaryBytes(memoryBytes: number): number {
  return Math.ceil(memoryBytes / 2);
}
