import { seccompProfile as profile } from '@litterbox/linux-sandbox';

/** The profile of every sandbox, in the engines' own format. */
export function seccompProfile(): string {
  const { defaultAction, defaultErrnoRet, syscalls } = profile();
  return JSON.stringify({
    defaultAction,
    defaultErrnoRet,
    archMap: [
      { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
      { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
    ],
    syscalls,
  });
}
