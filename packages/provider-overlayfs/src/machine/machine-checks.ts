import type { HostFacts, ProbeCheck } from '@litterbox/core/provider';
import { DISK_REMEDY } from '@litterbox/linux-sandbox';
import type { Cgroup, CgroupSurvey } from './cgroup.ts';

/** The programs the provider runs on its host, and the Debian package of each. */
export const PROGRAM_PACKAGES = {
  bwrap: 'bubblewrap',
  unshare: 'util-linux',
  mount: 'mount',
  flock: 'util-linux',
  setpriv: 'util-linux',
  prlimit: 'util-linux',
  taskset: 'util-linux',
  setsid: 'util-linux',
  nsenter: 'util-linux',
  mkfifo: 'coreutils',
  cp: 'coreutils',
  rm: 'coreutils',
  stat: 'coreutils',
  readlink: 'coreutils',
  cat: 'coreutils',
  tar: 'tar',
  find: 'findutils',
} as const;

/** bubblewrap knows `--disable-userns` since this version. @see https://github.com/containers/bubblewrap/releases/tag/v0.8.0 */
const MINIMUM_BWRAP = [0, 8];
/** No overlay in user namespaces before 5.11, no clone3 in the filter's sense before 5.3 (security.md 6.3 asks for 5.10). */
const MINIMUM_KERNEL = [5, 10];

/** Findings of the survey that the checks are made of. */
export interface CheckFacts {
  readonly facts: HostFacts;
  readonly missing: readonly string[];
  readonly bwrap: string;
  readonly isSetuid: boolean;
  readonly gnuFind: string;
  readonly userns: string;
  readonly apparmor: string;
  readonly cgroup: Cgroup | undefined;
  readonly survey: CgroupSurvey;
  readonly canMakeDisks: boolean;
}

/** Each check of this machine, in the order in which a person mends what fails. */
export function machineChecks(found: CheckFacts): readonly ProbeCheck[] {
  return [
    kernelCheck(found),
    toolsCheck(found),
    bubblewrapCheck(found),
    check(
      'find',
      found.gnuFind.includes('GNU'),
      found.gnuFind.split('\n')[0] || 'find is missing',
      'sudo apt-get install -y findutils',
    ),
    namespacesCheck(found),
    cgroupCheck(found),
    diskCheck(found),
  ];
}

function check(
  name: string,
  isOk: boolean,
  finding: string,
  remedy: string,
  otherwise: ProbeCheck['status'] = 'failed',
): ProbeCheck {
  return isOk ? { name, status: 'ok', finding } : { name, status: otherwise, finding, remedy };
}

function kernelCheck({ facts }: CheckFacts): ProbeCheck {
  const isNew = isAtLeast(facts.kernelRelease, MINIMUM_KERNEL);
  return check('kernel', isNew, `Linux ${facts.kernelRelease}`, `Use Linux ${MINIMUM_KERNEL.join('.')} or newer.`);
}

function toolsCheck({ missing }: CheckFacts): ProbeCheck {
  const packages = [...new Set(missing.map((tool) => PROGRAM_PACKAGES[tool as keyof typeof PROGRAM_PACKAGES]))];
  return check(
    'tools',
    missing.length === 0,
    missing.length === 0 ? 'every program is there' : `missing: ${missing.join(', ')}`,
    `sudo apt-get install -y ${packages.join(' ')}`,
  );
}

function bubblewrapCheck({ bwrap, isSetuid }: CheckFacts): ProbeCheck {
  return check(
    'bubblewrap',
    isAtLeast(bwrap.replace(/^\D+/, ''), MINIMUM_BWRAP) && !isSetuid,
    isSetuid ? 'bubblewrap is setuid root' : bwrap || 'bubblewrap is missing',
    isSetuid
      ? 'sudo chmod u-s "$(command -v bwrap)"'
      : `sudo apt-get install -y bubblewrap (${MINIMUM_BWRAP.join('.')} or newer)`,
  );
}

function namespacesCheck({ userns, apparmor }: CheckFacts): ProbeCheck {
  const isOff = userns === '0' || userns === '';
  const isRestricted = apparmor === '1';
  return check(
    'user-namespaces',
    !isOff && !isRestricted,
    isOff
      ? 'user namespaces are off'
      : isRestricted
        ? 'AppArmor keeps ordinary users from user namespaces'
        : `this machine allows them, at most ${userns}`,
    isOff
      ? 'sudo sysctl -w user.max_user_namespaces=15000'
      : 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  );
}

function cgroupCheck({ facts, cgroup, survey }: CheckFacts): ProbeCheck {
  const name = 'control-groups';
  if (cgroup)
    return { name, status: 'ok', finding: `version ${cgroup.version}, below ${Object.values(cgroup.parents)[0]}` };
  return {
    name,
    status: 'warning',
    finding: 'this user may not make control groups, so memory, processor and process limits cannot be enforced',
    remedy: delegationCommand(facts.uid, survey),
    isRefused: true,
  };
}

function diskCheck({ facts, canMakeDisks }: CheckFacts): ProbeCheck {
  return check(
    'disk',
    canMakeDisks,
    canMakeDisks
      ? 'limits.disk can be enforced: a file system in a file for each sandbox that has it'
      : 'limits.disk cannot be enforced: a sandbox may fill the disk that the state directory is on',
    facts.uid === 0
      ? `${DISK_REMEDY}.`
      : `${DISK_REMEDY}, and run Litterbox as root; or keep its state on a file system of its own.`,
    'warning',
  );
}

/** The one command that lets an ordinary user limit sandboxes, on the version of control groups that is here. */
function delegationCommand(uid: number, { mounts, own }: Pick<CgroupSurvey, 'mounts' | 'own'>): string {
  if (!/^\S+ \/sys\/fs\/cgroup cgroup2 /m.test(mounts))
    return `sudo sh -c 'for c in memory pids cpu cpuacct freezer; do d=/sys/fs/cgroup/$c/litterbox-user-${uid}; [ -d /sys/fs/cgroup/$c ] && mkdir -p $d && chown -R ${uid} $d; done' (until this machine boots: run it again then)`;
  // Below the user's own session manager already: it was not handed everything, as by systemd before 252.
  if (own.includes(`/user@${uid}.service/`))
    return `sudo sh -c 'mkdir -p /etc/systemd/system/user@.service.d && printf "[Service]\\nDelegate=cpu memory pids\\n" >/etc/systemd/system/user@.service.d/litterbox.conf && systemctl daemon-reload && systemctl restart user@${uid}' (ends your session)`;
  return 'sudo apt-get install -y dbus-user-session libpam-systemd (and log in again): then your session manager hands out groups';
}

function isAtLeast(text: string, minimum: readonly number[]): boolean {
  const numbers = (/\d+(\.\d+)*/.exec(text)?.[0] ?? '0').split('.').map(Number);
  for (const [index, wanted] of minimum.entries()) {
    const got = numbers[index] ?? 0;
    if (got !== wanted) return got > wanted;
  }
  return true;
}
