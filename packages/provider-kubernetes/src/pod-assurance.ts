import { type Assurance, type Control, type ControlName, INSIDE } from '@litterbox/core/provider';
import { poolOf } from './agent-sandbox/makers.ts';
import type { PodMeta, PodState } from './pod-meta.ts';
import { CONTAINER } from './pod-exec.ts';
import { EMPTY_PLACES } from './pod-spec.ts';

/** Files of /proc with memory, keys and addresses of the kernel. */
const SECRETS = ['kcore', 'keys', 'timer_list', 'sched_debug', 'kmsg', 'kpagecount', 'slabinfo'];
/** Files of /proc that tell of the machine. Only the runtime of the node could mask them. */
const TELLING = ['interrupts', 'modules', 'diskstats', 'key-users', 'swaps', 'mdstat', 'config.gz'];

/** Shell text: all that the kernel tells from inside, in parts that {@link assuranceOf} takes apart. What answers in the network follows it. */
export const FACTS_SCRIPT = `cat /proc/self/status; echo '--'; cat /proc/self/uid_map; echo '--'; cat /proc/self/mountinfo; echo '--'
ulimit -n; { ulimit -u || ulimit -p; } 2>/dev/null; df -P -k ${INSIDE.home} | tail -n 1; echo '--'
ls -A ${EMPTY_PLACES.join(' ')} | grep -v -e : -e '^$' | head -n 5; echo '--'
for lb_at in ${SECRETS.join(' ')}; do read -r lb_line </proc/$lb_at && echo "$lb_at"; done 2>/dev/null
head -c 4096 /proc/kallsyms 2>/dev/null | grep -q -v '^0*0 ' && echo kallsyms; echo '--'
for lb_at in ${TELLING.join(' ')}; do read -r lb_line </proc/$lb_at && echo "$lb_at"; done 2>/dev/null; echo '--'`;

/** Facts of {@link FACTS_SCRIPT}, part by part. */
interface Facts {
  readonly status: string;
  readonly uidMap: string;
  readonly mounts: readonly (readonly string[])[];
  readonly limits: readonly string[];
  readonly sys: string;
  /** Those of {@link SECRETS} that can be read. */
  readonly secrets: readonly string[];
  /** Those of {@link TELLING} that can be read. */
  readonly telling: readonly string[];
  readonly tried: readonly string[];
}

/** The controls in force, as the kernel tells them inside, and the cluster of the pod. */
export function assuranceOf(
  provider: string,
  meta: PodMeta,
  { spec }: PodState,
  output: string,
  othersPolicies: readonly string[],
): Assurance {
  const [status = '', uidMap = '', mounts = '', ...rest] = output.split(/^--\n/m);
  const [limits = [], [sys = ''] = [], secrets = [], telling = [], tried = []] = rest.map((part) =>
    part.split('\n').filter(Boolean),
  );
  const facts = {
    status,
    uidMap,
    mounts: mounts.split('\n').map((line) => line.split(' ')),
    limits,
    sys,
    secrets,
    telling,
    tried,
  };
  const own = spec['hostUsers'] === false ? ', own users asked for' : '';
  return {
    provider,
    mechanism: `a pod of Kubernetes${meta.maker ? `, made by ${meta.maker}` : ''}, workspace on the node${own}`,
    controls: [
      ...kernelControls(meta, spec, facts),
      networkControl(tried, othersPolicies),
      ...fileControls(facts),
      ...limitControls(meta, spec, facts),
    ],
    readable: [],
  };
}

function control(name: ControlName, holds: boolean, finding: string): Control {
  return holds ? { name, status: 'enforced', finding } : { name, status: 'absent', finding, remedy: REPORT };
}

function kernelControls(meta: PodMeta, spec: PodState['spec'], { status, uidMap }: Facts): readonly Control[] {
  const of = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '?';
  const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter((set) => !/^0+$/.test(of(set)));
  const joint = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'].filter((name) => spec[name] === true);
  const hasOwnUsers = uidMap !== '' && !/^\s*0\s+0\s+4294967295/m.test(uidMap);
  const users = hasOwnUsers ? ', own user namespace' : '; no user namespace: this cluster drops hostUsers';
  const isFiltered = of('Seccomp') === '2';
  return [
    control(
      'namespaces',
      joint.length === 0,
      joint.length === 0
        ? `own process, network, IPC, host name and mount namespaces${users}`
        : `shares with the node or with its pod: ${joint.join(', ')}`,
    ),
    userControl(meta, of('Uid'), hasOwnUsers),
    control(
      'capabilities',
      sets.length === 0,
      sets.length === 0 ? 'none, and none can be gained' : `not empty: ${sets.join(', ')}`,
    ),
    control('no-new-privileges', of('NoNewPrivs') === '1', `NoNewPrivs ${of('NoNewPrivs')}`),
    control('system-calls', isFiltered, isFiltered ? "the runtime's own filter is loaded" : 'no filter'),
  ];
}

function userControl({ user, maker }: PodMeta, found: string, hasOwnUsers: boolean): Control {
  if (poolOf(maker) === undefined || hasOwnUsers || found !== String(user))
    return control('user', found === String(user), `user ${found}, which no other sandbox has`);
  return {
    name: 'user',
    status: 'weak',
    finding: `user ${found}, which all pods of pools have: those of a node share the limit of processes`,
    remedy: 'Use a cluster with user namespaces, or leave kubernetes.pods out.',
  };
}

function fileControls({ mounts, secrets, telling, sys }: Facts): readonly Control[] {
  const isReadOnly = isReadOnlyAt(mounts, '/');
  return [
    control(
      'files',
      isReadOnly,
      isReadOnly
        ? 'only workspace, home, playground and temporary directories can be written'
        : 'the root file system can be written',
    ),
    kernelFiles(isReadOnlyAt(mounts, '/proc/sys'), secrets, sys === '' ? telling : [...telling, '/sys']),
    control('environment', true, "nothing of this machine's environment is passed on"),
    control('descriptors', true, 'none: processes are started by the cluster'),
  ];
}

function limitControls({ limits }: PodMeta, spec: PodState['spec'], facts: Facts): readonly Control[] {
  const { memory, cpu } = limitsOf(spec);
  const [openFiles, processes] = facts.limits;
  return [
    control('memory', memory > 0 && memory <= limits.memoryBytes, `at most ${Math.round(memory / 2 ** 20)} MiB`),
    control('cpu', cpu > 0 && cpu <= Math.ceil(limits.cpus * 1000) / 1000, `at most ${cpu} processors`),
    control(
      'processes',
      processes === String(limits.processes) && openFiles === String(limits.openFiles),
      `at most ${processes} of its user, each with ${openFiles} open files`,
    ),
    diskControl(limits.diskBytes, facts.limits[2]),
  ];
}

function diskControl(limit: number | undefined, line = ''): Control {
  const name = 'disk';
  if (limit === undefined)
    return {
      name,
      status: 'absent',
      finding: "workspace, home and playground may fill the node's disk until the kubelet evicts the pod",
      remedy: 'Set limits.disk, or bound ephemeral storage by a LimitRange of the namespace.',
    };
  const [, kibibytes] = /\s(\d{1,15})\s+\d+\s+-?\d+\s+\d+%/.exec(line) ?? [];
  const mebibytes = Math.ceil(Number(kibibytes) / 1024);
  return Number(kibibytes) * 1024 <= limit
    ? { name, status: 'enforced', finding: `workspace, home and playground hold at most ${mebibytes} MiB together` }
    : {
        name,
        status: 'absent',
        finding: kibibytes ? `the cluster gave a volume of ${mebibytes} MiB` : 'the volume does not tell its size',
        remedy: 'Use a class of storage whose volumes have the size that is asked for.',
      };
}

function networkControl(tried: readonly string[], others: readonly string[]): Control {
  const open = tried.filter((word) => word.startsWith('open ')).map((word) => word.slice(5, 105));
  const remedy =
    'Use a cluster whose network plugin enforces NetworkPolicy (Calico, Cilium, Antrea and others). This one accepts the policy and does nothing, or somebody deleted that of the sandbox: then build it anew.';
  if (open.length > 0)
    return {
      name: 'network',
      status: 'absent',
      finding: `policies are not enforced: ${open.join(', ')} answers`,
      remedy,
    };
  if (others.length > 0)
    return {
      name: 'network',
      status: 'absent',
      finding: `policies of the namespace open what ours shuts: ${others.join(', ')}`,
      remedy: 'Take pods of sandboxes out of what these policies select, or give sandboxes a namespace of their own.',
    };
  const shut = tried.filter((word) => word.startsWith('shut ')).length;
  if (shut === 0)
    return {
      name: 'network',
      status: 'weak',
      finding: 'a policy denies all, and nobody could try it: the image has no nc, perl or python3',
      remedy: 'Take an image with one of them.',
    };
  return {
    name: 'network',
    status: 'enforced',
    finding: `a policy denies all; ${shut} addresses of the cluster were tried and do not answer`,
  };
}

/** @see https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html */
const isReadOnlyAt = (mounts: Facts['mounts'], path: string): boolean =>
  mounts
    .findLast((fields) => fields[4] === path)?.[5]
    ?.split(',')
    .includes('ro') ?? false;

function kernelFiles(isReadOnly: boolean, secrets: readonly string[], telling: readonly string[]): Control {
  const name = 'kernel-files';
  if (!isReadOnly || secrets.length > 0)
    return {
      name,
      status: 'absent',
      finding: isReadOnly ? `secrets of the kernel can be read: ${secrets.join(', ')}` : '/proc/sys can be written',
      remedy: 'Use a cluster whose nodes have the usual masks of /proc.',
    };
  if (telling.length === 0)
    return {
      name,
      status: 'enforced',
      finding: '/proc/sys is read-only, and nothing in /proc and /sys tells of the node',
    };
  return {
    name,
    status: 'weak',
    finding: `/proc/sys is read-only; these files tell of the node: ${telling.join(', ')}`,
    remedy: 'A runtime class with a kernel of its own, such as gVisor or Kata, hides them.',
  };
}

/** The limits that the cluster says the container has, in bytes and processors; 0 for what is none. */
function limitsOf(spec: PodState['spec']): { readonly memory: number; readonly cpu: number } {
  const containers = Array.isArray(spec['containers']) ? (spec['containers'] as readonly unknown[]) : [];
  const { resources } = (containers.find((one) => (one as { readonly name?: unknown } | null)?.name === CONTAINER) ??
    {}) as {
    readonly resources?: { readonly limits?: Readonly<Record<string, unknown>> };
  };
  return { memory: quantityOf(resources?.limits?.['memory']), cpu: quantityOf(resources?.limits?.['cpu']) };
}

const SUFFIXES: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
function quantityOf(value: unknown): number {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]{0,2})$/.exec(typeof value === 'string' ? value : '') ?? [];
  return digits === undefined ? 0 : Number(digits) * (SUFFIXES[suffix] ?? 0);
}

const REPORT = 'The cluster changed the pod that was asked for: an admission policy of it may.';
