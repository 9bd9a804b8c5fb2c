import { REFUSED_COMMANDS, RLIMIT_CORE } from './refused-arguments.ts';
import { AF_UNIX, REFUSED_REQUESTS, SOCKET_PROTOCOLS } from './socket-protocols.ts';

/**
 * System calls that programs in a sandbox may make: what the default profiles of container engines allow a process without
 * capabilities, less what makes namespaces and mounts, reads other processes' memory, or has a record of holes in the kernel
 * (io_uring, keyrings, userfaultfd, handles). @see syscalls(2)
 */
const ALLOWED = `
_llseek _newselect accept accept4 access alarm arch_prctl arm_fadvise64_64 bind brk cachestat capget capset chdir
chmod chown chown32 clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep
clock_nanosleep_time64 close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1
epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2
fadvise64 fadvise64_64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fdatasync
fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate
ftruncate64 futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake futimesat get_mempolicy get_robust_list
get_thread_area getcpu getcwd getdents getdents64 getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups
getgroups32 getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresgid32 getresuid
getresuid32 getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getuid32 getxattr getxattrat
inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_submit
ioprio_get ioprio_set ipc kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lchown32
lgetxattr link linkat listen listxattr listxattrat llistxattr lremovexattr lseek lsetxattr lstat lstat64 madvise
map_shadow_stack mbind membarrier memfd_create mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mmap2
mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64
mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap nanosleep newfstatat open openat
openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll ppoll_time64 prctl
pread64 preadv preadv2 process_madvise process_mrelease pselect6 pselect6_time64 ptrace pwrite64 pwritev
pwritev2 read readahead readdir readlink readlinkat readv recv recvfrom recvmmsg recvmmsg_time64 recvmsg removexattr
removexattrat rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask
rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo
sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler
sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler
sched_yield seccomp select semctl semget semop semtimedop semtimedop_time64 send sendfile sendfile64 sendmmsg sendmsg
sendto set_mempolicy set_mempolicy_home_node set_robust_list set_thread_area set_tid_address setfsgid setfsgid32
setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setitimer setpgid setpriority setregid setregid32 setresgid
setresgid32 setresuid setresuid32 setreuid setreuid32 setsid setsockopt setuid setuid32 setxattr setxattrat
shmat shmctl shmdt shmget shutdown sigaction sigaltstack signal signalfd signalfd4 sigpending sigprocmask sigreturn
sigsuspend splice stat stat64 statfs statfs64 statx symlink symlinkat sync sync_file_range sync_file_range2
syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime timer_gettime64 timer_settime
timer_settime64 timerfd timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64 times tkill
truncate truncate64 ugetrlimit umask uname unlink unlinkat utime utimensat utimensat_time64 utimes vfork wait4 waitid
waitpid write writev
`;

/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. @see include/uapi/linux/sched.h */
const CLONE_NEW_ANY = 0x7e020000;
/** The personalities of Linux: default, 32 bit addresses, and "what is it". */
const PERSONALITIES = [0, 8, 131072, 131080, 0xffffffff];
const NOTHING = 0;
const ENOSYS = 38;
const EPERM = 1;
const EPROTONOSUPPORT = 93;

/**
 * The filter of system calls of a sandbox, in the words of the Open Container Initiative, for runtimes and engines that take it.
 * Which architecture it is for is left to who adds it.
 *
 * @see https://github.com/opencontainers/runtime-spec/blob/main/config-linux.md#seccomp
 */
export function seccompProfile() {
  const equal = (index: number, value: number) => ({ index, value, op: 'SCMP_CMP_EQ' });
  const masked = (index: number, { mask, value }: Block) => ({
    index,
    value: mask,
    valueTwo: value,
    op: 'SCMP_CMP_MASKED_EQ',
  });
  const core = { mask: 0xffffffff, value: RLIMIT_CORE };
  const allow = (names: readonly string[], ...args: readonly object[]) => ({ names, action: 'SCMP_ACT_ALLOW', args });
  const allowBlocks = (names: readonly string[], index: number, without: readonly number[]) =>
    blocksWithout(without).map((block) => allow(names, masked(index, block)));
  const refuse = (name: string, errnoRet: number, ...args: readonly object[]) => ({
    names: [name],
    action: 'SCMP_ACT_ERRNO',
    errnoRet,
    args,
  });
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    syscalls: [
      allow(ALLOWED.trim().split(/\s+/)),
      allow(['clone'], { index: 0, value: CLONE_NEW_ANY, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }),
      // Libraries fall back to clone(), whose flags can be looked at, when this one is not there.
      refuse('clone3', ENOSYS),
      // Asynchronous reading and writing: its slots are few, and of the whole machine. Programs fall back to threads.
      refuse('io_setup', ENOSYS),
      ...allowBlocks(['ioctl'], 1, REFUSED_REQUESTS),
      ...allowBlocks(['fcntl', 'fcntl64'], 1, REFUSED_COMMANDS),
      // The limit of core files stays as it is. Who sets it is told that it worked: programs that keep secrets end when it fails.
      ...allowBlocks(['setrlimit'], 0, [RLIMIT_CORE]),
      refuse('setrlimit', NOTHING, masked(0, core)),
      ...allowBlocks(['prlimit64'], 1, [RLIMIT_CORE]),
      allow(['prlimit64'], masked(1, core), equal(2, 0)),
      refuse('prlimit64', NOTHING, masked(1, core), { index: 2, value: 0, op: 'SCMP_CMP_NE' }),
      allow(['socket', 'socketpair'], equal(0, AF_UNIX)),
      ...SOCKET_PROTOCOLS.flatMap(({ family, protocols }) => [
        ...protocols.map((protocol) => allow(['socket'], equal(0, family), equal(2, protocol))),
        // What the kernel says of a protocol that it does not have: programs then do without, as without the audit of the machine.
        ...blocksWithout(protocols).map((block) =>
          refuse('socket', EPROTONOSUPPORT, equal(0, family), masked(2, block)),
        ),
      ]),
      ...PERSONALITIES.map((personality) => allow(['personality'], equal(0, personality))),
    ],
  };
}

/** The numbers that are `value` where `mask` has bits. */
interface Block {
  readonly mask: number;
  readonly value: number;
}

/**
 * All 32-bit numbers but these, as few blocks that bits tell: rules of one call may not contradict each other, and the high half of an
 * argument, which the kernel cuts off, must not count.
 */
function blocksWithout(numbers: readonly number[], bits = 32, prefix = 0): readonly Block[] {
  if (numbers.length === 0) return [{ mask: 2 ** 32 - 2 ** bits, value: prefix }];
  if (bits === 0) return [];
  const half = prefix + 2 ** (bits - 1);
  return [
    ...blocksWithout(
      numbers.filter((number) => number < half),
      bits - 1,
      prefix,
    ),
    ...blocksWithout(
      numbers.filter((number) => number >= half),
      bits - 1,
      half,
    ),
  ];
}
