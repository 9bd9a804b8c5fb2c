/** Files of /proc that tell of the host or act on it, to be covered by `/dev/null`. Which of them exist differs by kernel. */
export const MASKED_PROC_FILES: readonly string[] = [
  '/proc/kcore',
  '/proc/keys',
  '/proc/key-users',
  '/proc/timer_list',
  '/proc/sched_debug',
  '/proc/sysrq-trigger',
  '/proc/latency_stats',
  '/proc/kallsyms',
  '/proc/kpagecount',
  '/proc/kpageflags',
  '/proc/kpagecgroup',
  '/proc/kmsg',
  '/proc/mounts-host',
  '/proc/interrupts',
  '/proc/diskstats',
  '/proc/slabinfo',
  '/proc/vmallocinfo',
  '/proc/pagetypeinfo',
  '/proc/modules',
  '/proc/swaps',
  '/proc/mdstat',
  '/proc/config.gz',
  '/proc/timer_stats',
];
/** Directories of /proc that must look empty. */
export const MASKED_PROC_DIRECTORIES: readonly string[] = [
  '/proc/acpi',
  '/proc/scsi',
  '/proc/asound',
  '/proc/driver',
  // A file system of its own, for which systemd has an automounter: whoever looks there mounts it, for everybody.
  '/proc/sys/fs/binfmt_misc',
];
/** Directories of /proc that must be read-only. */
export const READ_ONLY_PROC: readonly string[] = [
  '/proc/sys',
  '/proc/irq',
  '/proc/bus',
  '/proc/fs',
  '/proc/sysvipc',
  '/proc/tty',
];
