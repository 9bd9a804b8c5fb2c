import {
  type CallOptions,
  type Host,
  type HostFacts,
  LitterboxError,
  type ProbeCheck,
  type ProviderKey,
  quoted,
} from '@litterbox/core/provider';
import { CAN_MAKE_DISKS, DISK_REMEDY, runScript } from '@litterbox/linux-sandbox';
import { type Cgroup, cgroupOf, type CgroupSurvey } from './cgroup.ts';
import { type ProgramLink, type ToolDirectory, toolDirectoriesOf } from './tool-directories.ts';

/** What one look at the host tells. */
export interface Machine {
  /** What looked, as errors name it. */
  readonly provider: ProviderKey;
  readonly facts: HostFacts;
  /** Started by root: the sandbox's processes get an unprivileged user of their own before anything else. */
  readonly isRoot: boolean;
  readonly bwrapVersion: string;
  /** Undefined when limits cannot be enforced by this user here. */
  readonly cgroup: Cgroup | undefined;
  /** What has to stand before a program that is to enter groups below {@link cgroup}; absent where any may. */
  readonly scope?: readonly [string, ...string[]];
  /** Whether a sandbox can have a disk of its own, which is what bounds it. */
  readonly canMakeDisks: boolean;
  /** Why nothing bounds the speed of the disk; absent where a control group does. */
  readonly withoutDiskSpeed?: string;
  /** The most open descriptors a process started here can be given. */
  readonly maxOpenFiles: number;
  readonly toolDirectories: readonly ToolDirectory[];
  /** Programs in PATH that lead where a sandbox does not see. */
  readonly unreachable: readonly ProgramLink[];
  /** First components below `/` that are links into /usr (`bin`, `lib64`), with their targets, and those that are directories. */
  readonly rootLinks: readonly (readonly [name: string, target: string])[];
  readonly rootDirectories: readonly string[];
  /** The filter of system calls that the look was to look for is there. */
  readonly hasFilter: boolean;
  /** The file at the path of the session program; undefined where nothing is. */
  readonly program: FoundProgram | undefined;
  readonly checks: readonly ProbeCheck[];
}

/** A file, as the machine tells of it. */
export interface FoundProgram {
  readonly isFile: boolean;
  readonly uid: number;
  /** The permission bits. */
  readonly mode: number;
  readonly sizeBytes: number;
}

/** Absolute paths of files of ours to look for on the way. */
export interface LookedFor {
  readonly filter: string;
  readonly program: string;
}

/** The programs the provider runs on its host, and the Debian package of each. */
const TOOLS = {
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

/**
 * Looks once; changes nothing.
 *
 * @param lookedFor what to look for on the way
 */
export async function readMachine(
  host: Host,
  facts: HostFacts,
  provider: ProviderKey,
  lookedFor: LookedFor,
  options?: CallOptions,
): Promise<Machine> {
  if (facts.platform !== 'linux') {
    throw new LitterboxError(
      'UNSUPPORTED',
      `Copy-on-write sandboxes need Linux; ${host.name} runs ${facts.platform}.`,
      {
        operation: 'provider.probe',
        provider,
        hint:
          facts.platform === 'darwin'
            ? 'Set up a Linux machine once: brew install lima && limactl start. Or name one over SSH, or use a container provider.'
            : facts.platform === 'win32'
              ? 'Set up a Linux machine once: wsl --install. Or name one over SSH.'
              : 'Use a container provider, or a Linux machine over SSH.',
      },
    );
  }
  const report = await runScript(host, surveyScript(facts, lookedFor), options);
  const lines = report.stdout.split('\0').filter((line) => line !== '');
  const all = (key: string) =>
    lines.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  const one = (key: string) => all(key)[0] ?? '';
  const pairs = (key: string) =>
    all(key).map((line) => [line.slice(0, line.indexOf('\n')), line.slice(line.indexOf('\n') + 1)] as const);
  const isRoot = facts.uid === 0;
  const tools = toolDirectoriesOf(facts, {
    realPaths: new Map(pairs('path')),
    managers: all('tool-root'),
    links: pairs('link').map(([path, target]) => ({ path, target })),
    parts: all('part'),
    environments: all('environment'),
    libraries: all('library'),
  });
  const survey: CgroupSurvey = {
    isRoot,
    uid: facts.uid,
    mounts: one('cgroup-mounts'),
    own: one('cgroup-own'),
    writable: all('cgroup-writable'),
  };
  const cgroup = cgroupOf(survey);
  const canMakeDisks = isRoot && one('disks') === 'yes';
  return {
    provider,
    facts,
    isRoot,
    maxOpenFiles: Number(one('open-files')) || Number.POSITIVE_INFINITY,
    bwrapVersion: one('bwrap').replace(/^bubblewrap /, ''),
    cgroup,
    ...(one('scope') === 'yes' && { scope: ownScope(facts.uid) }),
    canMakeDisks,
    ...withoutDiskSpeed(cgroup, isRoot, one('controllers')),
    hasFilter: one('filter') === 'yes',
    program: programOf(one('program')),
    toolDirectories: tools.directories,
    unreachable: tools.unreachable,
    rootLinks: all('root-link').map(
      (line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const,
    ),
    rootDirectories: all('root-directory'),
    checks: checksOf({
      facts,
      missing: all('missing'),
      bwrap: one('bwrap'),
      isSetuid: one('bwrap-setuid') === 'yes',
      gnuFind: one('find'),
      userns: one('userns'),
      apparmor: one('apparmor'),
      cgroup,
      survey,
      canMakeDisks,
    }),
  };
}

const SAY = `say() { printf '%s %s\\0' "$1" "$2"; }`;

/**
 * Shell text of a function: whether this user can make groups below one of version 2 that limit memory, processes and processors.
 * The kernel hands nothing on from a group that holds processes itself.
 */
const CAN_DIVIDE = `can_divide() {
[ -w "$1/cgroup.procs" ] && [ -w "$1/cgroup.subtree_control" ] || return 1
for c in memory pids cpu; do
case " $(cat "$1/cgroup.subtree_control") " in *" $c "*) continue;; esac
case " $(cat "$1/cgroup.controllers") " in *" $c "*) ;; *) return 1;; esac
[ -z "$(cat "$1/cgroup.procs")" ] || return 1
done
}`;

/** Shell text of a function: tells of the groups that this user can divide, from one upwards, by its path in the hierarchy. */
const WRITABLE_ABOVE = `writable_above() {
own=$1
while [ "$own" ] && [ "$own" != / ]; do can_divide "/sys/fs/cgroup$own" && { say cgroup-writable "/sys/fs/cgroup$own"; writable=yes; }; own=\${own%/*}; done
}`;

/**
 * Shell text: a login has no groups of its own, and the user's session manager has. It is asked for a scope, and what can be divided is looked at
 * from in there.
 */
function scopeScript(uid: number): string {
  const look = `${SAY}\n${CAN_DIVIDE}\n${WRITABLE_ABOVE}\nwhile read -r line; do case $line in 0::*) writable_above "\${line#0::}";; esac; done </proc/self/cgroup`;
  return `[ "$writable" ] || [ ! -S /run/user/${uid}/bus ] || {
${ownScope(uid).map(quoted).join(' ')} sh -c ${quoted(look)} && say scope yes
} 2>/dev/null`;
}

/**
 * What starts a program in control groups of its own for a user of systemd.
 *
 * @see https://www.freedesktop.org/software/systemd/man/latest/systemd-run.html
 */
function ownScope(uid: number): readonly [string, ...string[]] {
  const options = ['--user', '--scope', '--quiet', '--collect', '--description=litterbox', '--property=Delegate=yes'];
  return ['env', `XDG_RUNTIME_DIR=/run/user/${uid}`, 'systemd-run', ...options, '--'];
}

/**
 * Shell text: directories of PATH by their real paths, links in them with their targets, and what lies beside a `bin`. Names with a line
 * feed would pass for two, and then no link is believed.
 */
function linksScript(searchPath: readonly string[]): string {
  return `parts() { for n; do [ -d "$x/$n" ] && [ ! -L "$x/$n" ] && say part "$x/$n"; done; }
beside() {
case $1 in */bin) x=\${1%/bin};; *) return;; esac
parts lib libexec jre
[ -d "$x/include/node" ] && parts include
[ -f "$x/lib/modules" ] && parts conf
[ -f "$x/bin/m2.conf" ] && parts boot conf
[ -d "$x/src/runtime" ] && parts src pkg
}
set --
note() { [ -L "$l" ] && [ -f "$l" ] && [ -x "$l" ]; }
for d in ${searchPath.map(quoted).join(' ')}; do
cd -P -- "$d" 2>/dev/null || continue
say path "$d
$PWD"
case $PWD/ in /usr/*|/bin/*|/sbin/*|*/node_modules/.bin/) continue;; esac
beside "$PWD"
for l in "$PWD"/*; do note && [ $# -lt 2000 ] && set -- "$@" "$l"; done
done
cd /
for d in /var/lib/gems /var/lib/dpkg; do [ -d $d ] && [ ! -L $d ] && say library $d; done
IFS='
'
for d in /opt/*/; do
[ -d "$d" ] || break
for l in $(find /usr/bin /usr/local/bin -maxdepth 1 -type l -lname '/opt/*' 2>/dev/null); do note && set -- "$@" "$l"; done
break
done
targets= n=0
[ $# = 0 ] || targets=$(readlink -f -- "$@")
set -f
for t in $targets; do n=$((n+1)); done
[ $n = $# ] || set --
[ $# = 0 ] || for t in $targets; do
say link "$1
$t"
shift
beside "\${t%/*}"
x=\${t%/bin/*}
[ "$x" != "$t" ] && [ -f "$x/pyvenv.cfg" ] || continue
say environment "$x"
p=$(readlink -f -- "$x/bin/python3") && say link "$x/bin/python3
$p" && beside "\${p%/*}"
done
set +f
unset IFS`;
}

/** Every program it starts is time before each command of the command line: what the shell can tell itself, it tells. */
function surveyScript({ searchPath, homeDirectory, uid }: HostFacts, { filter, program }: LookedFor): string {
  const readLine = `first_line() { line=; [ ! -r "$1" ] || read -r line <"$1"; }`;
  return `${SAY}
${readLine}
${CAN_DIVIDE}
for tool in ${Object.keys(TOOLS).join(' ')}; do command -v $tool >/dev/null || say missing $tool; done
say bwrap "$(bwrap --version 2>/dev/null)"
[ -u "$(command -v bwrap)" ] && say bwrap-setuid yes
say find "$(find --version 2>/dev/null)"
first_line /proc/sys/user/max_user_namespaces
say userns "$line"
first_line /proc/sys/kernel/apparmor_restrict_unprivileged_userns
say apparmor "$line"
${CAN_MAKE_DISKS} && say disks yes
[ -f ${quoted(filter)} ] && say filter yes
say program "$(stat -c '%a %u %s %F' ${quoted(program)} 2>/dev/null)"
say open-files "$(ulimit -Hn)"
say cgroup-mounts "$(grep cgroup /proc/self/mounts)"
groups= own=
while read -r line; do
groups="$groups$line
"
case $line in 0::*) own=\${line#0::};; esac
done </proc/self/cgroup
say cgroup-own "$groups"
first_line /sys/fs/cgroup/cgroup.controllers
say controllers "$line"
writable=
for d in /sys/fs/cgroup/*/litterbox-user-${uid}; do [ -w "$d/cgroup.procs" ] && { say cgroup-writable "$d"; writable=yes; }; done
${WRITABLE_ABOVE}
writable_above "$own"
${uid === 0 ? '' : scopeScript(uid)}
${linksScript(searchPath)}
for d in .pyenv .nvm .rbenv .cargo .rustup .volta .asdf .sdkman .deno .bun .local/share/mise .local/share/pnpm; do [ -d ${quoted(homeDirectory)}/$d ] && say tool-root ${quoted(homeDirectory)}/$d; done
find /bin /sbin /lib /lib32 /lib64 /libx32 -maxdepth 0 \\( -type l -printf 'root-link %f %l\\0' -o -type d -printf 'root-directory %f\\0' \\) 2>/dev/null
:`;
}

/** As `stat` says it: the mode in octal digits, the user, the size and what it is. */
function programOf(line: string): FoundProgram | undefined {
  const [, mode, uid, size, what] = /^([0-7]+) (\d+) (\d+) (.*)$/.exec(line) ?? [];
  if (mode === undefined) return undefined;
  return {
    isFile: what === 'regular file',
    uid: Number(uid),
    mode: Number.parseInt(mode, 8),
    sizeBytes: Number(size),
  };
}

/** Version 1 knows nothing of whose memory the kernel writes back later, so that what is written there goes past every limit. */
function withoutDiskSpeed(
  cgroup: Cgroup | undefined,
  isRoot: boolean,
  controllers: string,
): Pick<Machine, 'withoutDiskSpeed'> {
  if (!isRoot) return { withoutDiskSpeed: 'an ordinary user is handed no control group for it' };
  if (cgroup?.version !== 2)
    return { withoutDiskSpeed: 'version 1 of control groups does not bound what the kernel writes back later' };
  return controllers.split(' ').includes('io') ? {} : { withoutDiskSpeed: 'the kernel has no controller io' };
}

interface CheckFacts {
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

function checksOf({
  facts,
  missing,
  bwrap,
  isSetuid,
  gnuFind,
  userns,
  apparmor,
  cgroup,
  survey,
  canMakeDisks,
}: CheckFacts): readonly ProbeCheck[] {
  const check = (
    name: string,
    isOk: boolean,
    finding: string,
    remedy: string,
    otherwise: ProbeCheck['status'] = 'failed',
  ): ProbeCheck => (isOk ? { name, status: 'ok', finding } : { name, status: otherwise, finding, remedy });
  const packages = [...new Set(missing.map((tool) => TOOLS[tool as keyof typeof TOOLS]))];
  return [
    check(
      'kernel',
      isAtLeast(facts.kernelRelease, MINIMUM_KERNEL),
      `Linux ${facts.kernelRelease}`,
      `Use Linux ${MINIMUM_KERNEL.join('.')} or newer.`,
    ),
    check(
      'tools',
      missing.length === 0,
      missing.length === 0 ? 'every program is there' : `missing: ${missing.join(', ')}`,
      `sudo apt-get install -y ${packages.join(' ')}`,
    ),
    check(
      'bubblewrap',
      isAtLeast(bwrap.replace(/^\D+/, ''), MINIMUM_BWRAP) && !isSetuid,
      isSetuid ? 'bubblewrap is setuid root' : bwrap || 'bubblewrap is missing',
      isSetuid
        ? 'sudo chmod u-s "$(command -v bwrap)"'
        : `sudo apt-get install -y bubblewrap (${MINIMUM_BWRAP.join('.')} or newer)`,
    ),
    check(
      'find',
      gnuFind.includes('GNU'),
      gnuFind.split('\n')[0] || 'find is missing',
      'sudo apt-get install -y findutils',
    ),
    check(
      'user-namespaces',
      userns !== '0' && userns !== '' && apparmor !== '1',
      userns === '0' || userns === ''
        ? 'user namespaces are off'
        : apparmor === '1'
          ? 'AppArmor keeps ordinary users from user namespaces'
          : `this machine allows them, at most ${userns}`,
      userns === '0' || userns === ''
        ? 'sudo sysctl -w user.max_user_namespaces=15000'
        : 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
    ),
    cgroup
      ? {
          name: 'control-groups',
          status: 'ok',
          finding: `version ${cgroup.version}, below ${Object.values(cgroup.parents)[0]}`,
        }
      : {
          name: 'control-groups',
          status: 'warning',
          finding: 'this user may not make control groups, so memory, processor and process limits cannot be enforced',
          remedy: delegationCommand(facts.uid, survey),
          isRefused: true,
        },
    check(
      'disk',
      canMakeDisks,
      canMakeDisks
        ? 'limits.disk can be enforced: a file system in a file for each sandbox that has it'
        : 'limits.disk cannot be enforced: a sandbox may fill the disk that the state directory is on',
      facts.uid === 0
        ? `${DISK_REMEDY}.`
        : `${DISK_REMEDY}, and run Litterbox as root; or keep its state on a file system of its own.`,
      'warning',
    ),
  ];
}

/** The one command that lets an ordinary user limit sandboxes, on the version of control groups that is here. */
function delegationCommand(uid: number, { mounts, own }: Pick<CgroupSurvey, 'mounts' | 'own'>): string {
  if (!/^\S+ \/sys\/fs\/cgroup cgroup2 /m.test(mounts))
    return `sudo sh -c 'for c in memory pids cpu freezer; do d=/sys/fs/cgroup/$c/litterbox-user-${uid}; [ -d /sys/fs/cgroup/$c ] && mkdir -p $d && chown -R ${uid} $d; done' (until this machine boots: run it again then)`;
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
