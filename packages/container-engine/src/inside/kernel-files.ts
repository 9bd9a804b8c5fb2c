import { MASKED_PROC_DIRECTORIES, MASKED_PROC_FILES, READ_ONLY_PROC } from '@litterbox/linux-sandbox';

/** What of the kernel's files containers must not read, whatever the engine masks by itself: of `/sys` all but control groups. */
export const MASKED_PATHS: readonly string[] = [
  ...MASKED_PROC_FILES,
  ...MASKED_PROC_DIRECTORIES,
  ...'block bus class dev devices firmware hypervisor kernel module power'.split(' ').map((name) => `/sys/${name}`),
];
/** What they must not write. */
export const READONLY_PATHS: readonly string[] = READ_ONLY_PROC;
