/**
 * Commands of `fcntl` that are refused: F_SETLEASE and F_NOTIFY. Whoever opens a file with a lease waits for its holder, 45 seconds on
 * most machines; an ordinary user's sandbox owns the tools that it is shown, and could hold up the person's own programs. F_NOTIFY tells
 * which of them are used.
 *
 * @see include/uapi/linux/fcntl.h
 */
export const REFUSED_COMMANDS: readonly number[] = [1024, 1026];

/**
 * The limit of core files is one byte, and cannot be changed inside. Where `core_pattern` is a pipe the kernel starts the program behind
 * it for every crash, as root, outside of all control groups, and counts no limit, not even 0. It refuses one value: 1.
 *
 * @see fs/coredump.c of Linux: `if (cprm.limit == 1)`
 */
export const CORE_LIMIT_BYTES = 1;

/** The number of the limit of core files. @see include/uapi/asm-generic/resource.h */
export const RLIMIT_CORE = 4;
