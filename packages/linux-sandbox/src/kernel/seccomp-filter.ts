import { LitterboxError, type ProviderKey } from '@litterbox/core/provider';
import { REFUSED_COMMANDS, RLIMIT_CORE } from './refused-arguments.ts';
import { AF_UNIX, REFUSED_REQUESTS, SOCKET_PROTOCOLS } from './socket-protocols.ts';

// Classic BPF as seccomp reads it: struct sock_filter { u16 code; u8 jt; u8 jf; u32 k; } in the machine's byte order.
// https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const refuseWith = (errno: number) => 0x00050000 | errno;
const DO_NOTHING = refuseWith(0);
const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;

// Offsets in struct seccomp_data; of 64-bit arguments the low half, which on little-endian machines comes first.
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENT_0 = 16;
const ARGUMENT_1 = 24;
const ARGUMENT_2 = 32;
const ARGUMENT_2_HIGH = 36;

interface SystemCalls {
  /** AUDIT_ARCH_*. */
  readonly audit: number;
  /** x86-64 has a second table, the x32 ABI, at numbers with this bit. */
  readonly foreignBit?: number;
  readonly refused: readonly number[];
  readonly absent: readonly number[];
  readonly clone: number;
  readonly ioctl: number;
  readonly fcntl: number;
  readonly setrlimit: number;
  readonly prlimit: number;
  readonly socket: number;
  readonly socketpair: number;
}

/**
 * Refused with EPERM: mounting, namespaces, tracing other processes, keyrings, modules, clocks, quotas, handles,
 * performance counters, BPF, other processes' memory, segments of old processors. Absent (ENOSYS, so that programs fall back): io_uring,
 * which can open sockets past this filter, memfd_secret, whose pages no limit of the sandbox's memory takes back, clone3, whose flags a filter cannot read, and io_setup, whose slots are few and of the
 * whole machine.
 *
 * Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.18.
 */
const X86_64: SystemCalls = {
  audit: 0xc000003e,
  foreignBit: 0x40000000,
  refused: [
    // mount umount2 pivot_root swapon swapoff reboot init_module delete_module finit_module kexec_load kexec_file_load
    165, 166, 155, 167, 168, 169, 175, 176, 313, 246, 320,
    // open_by_handle_at name_to_handle_at perf_event_open bpf userfaultfd keyctl add_key request_key
    304, 303, 298, 321, 323, 250, 248, 249,
    // process_vm_readv process_vm_writev unshare setns move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr
    310,
    311, 272, 308, 429, 428, 430, 431, 432, 433, 442,
    // quotactl quotactl_fd acct settimeofday clock_settime adjtimex clock_adjtime iopl ioperm lookup_dcookie vhangup
    179, 443, 163, 164, 227, 159, 305, 172, 173, 212, 153,
    // pidfd_getfd kcmp syslog nfsservctl uselib fanotify_init sethostname setdomainname chroot statmount listmount open_tree_attr
    438,
    312, 103, 180, 134, 300, 170, 171, 161, 457, 458, 467,
    // modify_ldt
    154,
  ],
  absent: [425, 426, 427, 435, 206, 447],
  clone: 56,
  ioctl: 16,
  fcntl: 72,
  setrlimit: 160,
  prlimit: 302,
  socket: 41,
  socketpair: 53,
};

const AARCH64: SystemCalls = {
  audit: 0xc00000b7,
  refused: [
    40, 39, 41, 224, 225, 142, 105, 106, 273, 104, 294, 265, 264, 241, 280, 282, 219, 217, 218, 270, 271, 97, 268, 429,
    428, 430, 431, 432, 433, 442, 60, 443, 89, 170, 112, 171, 266, 18, 58, 438, 272, 116, 42, 262, 161, 162, 51, 457,
    458, 467,
  ],
  absent: [425, 426, 427, 435, 0, 447],
  clone: 220,
  ioctl: 29,
  fcntl: 25,
  setrlimit: 164,
  prlimit: 261,
  socket: 198,
  socketpair: 199,
};

/**
 * The newest call that was judged, `open_tree_attr` of Linux 6.15: newer ones have the same numbers on every architecture, and are absent, so
 * that what a later kernel brings is nothing that nobody has looked at.
 */
const NEWEST_JUDGED = 467;

/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. @see include/uapi/linux/sched.h */
const CLONE_NEW_ANY = 0x7e020000;

const TABLES: Readonly<Record<string, SystemCalls>> = { x86_64: X86_64, aarch64: AARCH64 };

/** Whether {@link seccompFilter} has one for the architecture. */
export const hasSeccompFilter = (architecture: string): boolean => Object.hasOwn(TABLES, architecture);

/**
 * The filter of system calls for launchers that take one as the kernel does, such as `bwrap --seccomp`: the bytes of an array of
 * `struct sock_filter`. It refuses what the profile for runtimes of OCI does not allow, as far as numbers and arguments tell.
 *
 * @param architecture as `HostFacts.architecture` has it
 * @throws LitterboxError `UNSUPPORTED` for an architecture without a table of its own.
 */
export function seccompFilter(architecture: string, provider: ProviderKey): Uint8Array {
  const calls = hasSeccompFilter(architecture) ? TABLES[architecture] : undefined;
  if (!calls) {
    throw new LitterboxError('UNSUPPORTED', `There is no system call filter for ${architecture}.`, {
      operation: 'provider.create',
      provider,
      hint: 'Use an x86-64 or 64-bit ARM machine.',
    });
  }
  const program: (readonly [code: number, k: number, whenTrue: number, whenFalse: number])[] = [];
  const add = (code: number, k: number, whenTrue = 0, whenFalse = 0) => program.push([code, k, whenTrue, whenFalse]);

  add(LOAD, ARCHITECTURE);
  add(JUMP_IF_EQUAL, calls.audit, 1, 0);
  add(RETURN, KILL_PROCESS); // a 32-bit program on a 64-bit kernel would have other numbers
  add(LOAD, NUMBER);
  if (calls.foreignBit !== undefined) {
    add(JUMP_IF_AT_LEAST, calls.foreignBit, 0, 1);
    add(RETURN, KILL_PROCESS);
  }
  add(JUMP_IF_AT_LEAST, NEWEST_JUDGED + 1, 0, 1);
  add(RETURN, refuseWith(ENOSYS));
  for (const number of calls.refused) {
    add(JUMP_IF_EQUAL, number, 0, 1);
    add(RETURN, refuseWith(EPERM));
  }
  for (const number of calls.absent) {
    add(JUMP_IF_EQUAL, number, 0, 1);
    add(RETURN, refuseWith(ENOSYS));
  }
  add(JUMP_IF_EQUAL, calls.clone, 0, 4);
  add(LOAD, ARGUMENT_0);
  add(JUMP_IF_ANY_BIT, CLONE_NEW_ANY, 0, 1);
  add(RETURN, refuseWith(EPERM));
  add(RETURN, ALLOW);
  // Only the low 32 bits count in the kernel, so only they are compared (CVE-2019-10063).
  add(JUMP_IF_EQUAL, calls.ioctl, 0, 2 + REFUSED_REQUESTS.length * 2);
  add(LOAD, ARGUMENT_1);
  for (const request of REFUSED_REQUESTS) {
    add(JUMP_IF_EQUAL, request, 0, 1);
    add(RETURN, refuseWith(EPERM));
  }
  add(RETURN, ALLOW);
  add(JUMP_IF_EQUAL, calls.fcntl, 0, 2 + REFUSED_COMMANDS.length * 2);
  add(LOAD, ARGUMENT_1);
  for (const command of REFUSED_COMMANDS) {
    add(JUMP_IF_EQUAL, command, 0, 1);
    add(RETURN, refuseWith(EPERM));
  }
  add(RETURN, ALLOW);
  // The limit of core files stays as it is. Who sets it is told that it worked: programs that keep secrets end when it fails.
  add(JUMP_IF_EQUAL, calls.setrlimit, 0, 4);
  add(LOAD, ARGUMENT_0);
  add(JUMP_IF_EQUAL, RLIMIT_CORE, 0, 1);
  add(RETURN, DO_NOTHING);
  add(RETURN, ALLOW);
  add(JUMP_IF_EQUAL, calls.prlimit, 0, 9);
  add(LOAD, ARGUMENT_1);
  add(JUMP_IF_EQUAL, RLIMIT_CORE, 1, 0);
  add(RETURN, ALLOW);
  add(LOAD, ARGUMENT_2); // the new limit's address; with none it only asks
  add(JUMP_IF_EQUAL, 0, 0, 2);
  add(LOAD, ARGUMENT_2_HIGH);
  add(JUMP_IF_EQUAL, 0, 1, 0);
  add(RETURN, DO_NOTHING);
  add(RETURN, ALLOW);
  const lengthOf = ({ protocols }: { readonly protocols: readonly number[] }) => 3 + protocols.length * 2;
  add(JUMP_IF_EQUAL, calls.socket, 0, 4 + SOCKET_PROTOCOLS.reduce((sum, one) => sum + lengthOf(one), 0));
  add(LOAD, ARGUMENT_0);
  add(JUMP_IF_EQUAL, AF_UNIX, 0, 1);
  add(RETURN, ALLOW);
  for (const one of SOCKET_PROTOCOLS) {
    add(JUMP_IF_EQUAL, one.family, 0, lengthOf(one) - 1);
    add(LOAD, ARGUMENT_2);
    for (const protocol of one.protocols) {
      add(JUMP_IF_EQUAL, protocol, 0, 1);
      add(RETURN, ALLOW);
    }
    add(RETURN, refuseWith(EPROTONOSUPPORT));
  }
  add(RETURN, refuseWith(EAFNOSUPPORT));
  add(JUMP_IF_EQUAL, calls.socketpair, 0, 4);
  add(LOAD, ARGUMENT_0);
  add(JUMP_IF_EQUAL, AF_UNIX, 0, 1);
  add(RETURN, ALLOW);
  add(RETURN, refuseWith(EAFNOSUPPORT));
  add(RETURN, ALLOW);

  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, k, whenTrue, whenFalse], index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, whenTrue);
    bytes.setUint8(index * 8 + 3, whenFalse);
    bytes.setUint32(index * 8 + 4, k >>> 0, true);
  });
  return new Uint8Array(bytes.buffer);
}
