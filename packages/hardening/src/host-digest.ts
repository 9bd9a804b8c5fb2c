import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where something written would run as root, or change who may do what. Not all of /etc: package managers may be at work. */
const FILES = [
  '/etc/passwd',
  '/etc/shadow',
  '/etc/group',
  '/etc/sudoers',
  '/etc/crontab',
  '/etc/ld.so.preload',
  '/etc/profile',
  '/etc/hosts',
  '/etc/gitconfig',
  '/etc/environment',
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/proc/sys/kernel/hotplug',
  '/proc/sys/kernel/randomize_va_space',
  '/proc/sys/kernel/yama/ptrace_scope',
  '/proc/sys/kernel/unprivileged_bpf_disabled',
  '/proc/sys/kernel/io_uring_disabled',
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/fs/suid_dumpable',
  '/proc/sys/net/ipv4/ip_forward',
  '/proc/sys/kernel/hostname',
  '/proc/sys/kernel/domainname',
];
const DIRECTORIES = [
  '/etc/sudoers.d',
  '/etc/cron.d',
  '/etc/profile.d',
  '/etc/systemd/system',
  '/proc/sys/fs/binfmt_misc',
];

/** Below the home: the command keeps its own compiled code there, and the digest passes over it. */
export const COMPILED_CODE = '.cache/litterbox/compiled';

/** What an attack on the machine would change, and a test must not; with the person's home directory, listed deep. */
export function hostDigest(home: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const note = (path: string) => {
    try {
      found[path] = createHash('sha256').update(readFileSync(path)).digest('hex');
    } catch (error) {
      found[path] = (error as NodeJS.ErrnoException).code ?? String(error);
    }
  };
  const visit = (path: string) => {
    for (const name of namesIn(path)) {
      const at = join(path, name);
      if (at === join(home, COMPILED_CODE)) continue;
      const { mode, size, mtimeMs } = lstatSync(at);
      found[at] = `${mode.toString(8)} ${size} ${mtimeMs}`;
      if ((mode & 0o170000) === 0o040000) visit(at);
    }
  };
  for (const path of FILES) note(path);
  for (const path of DIRECTORIES) found[path] = namesIn(path).join(' ');
  visit(home);
  return found;
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).toSorted();
  } catch {
    return [];
  }
}
