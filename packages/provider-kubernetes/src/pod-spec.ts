import { createHash } from 'node:crypto';
import { INSIDE, type SandboxId, quoted } from '@litterbox/core/provider';
import { initScript, ownNames, TEMPORARY_DIRECTORIES, temporaryBytes } from '@litterbox/sandbox-kit';
import { beginLooking } from './network-probe.ts';
import { BESIDE, CONTAINER } from './pod-exec.ts';
import { ANNOTATIONS, LABELS, type PodMeta, podName } from './pod-meta.ts';

/** Where the container that prepares a pod has the volume that the sandbox writes to. */
const WORK = '/litterbox';
/** Where programs of the container beside listen for each other. The sandbox does not have it. */
export const SOCKETS = `${WORK}/sockets`;
/** Directories in which every Linux shows the devices of its machine, laid over with an empty one; of /proc the runtime has masks of its own. */
export const EMPTY_PLACES = ['block', 'bus', 'class', 'dev', 'devices', 'kernel', 'module'].map(
  (name) => `/sys/${name}`,
);
/** The small directory that every sandbox has for sockets and numbers of processes. */
const RUN_BYTES = 64 * 2 ** 20;
const NOBODY_ELSE = { first: 1_000_000_000, count: 1_000_000_000 } as const;
/** The user of all pods of pools: they are made before anybody knows for whom. */
export const POOL_USER = 999_999_999;

/**
 * A number of a user for one sandbox. The kernel counts processes by user, so that two pods of one node with the same one would share a limit.
 */
export function userOf(id: SandboxId): number {
  const { first, count } = NOBODY_ELSE;
  return first + (createHash('sha256').update(id).digest().readUInt32BE(0) % count);
}

/** Denies everything both ways; made before the pod. Only the kubelet reaches in, for what the API server asks of it. */
export function policyOf(id: SandboxId, repositoryId: string): object {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: podName(id), labels: { [LABELS.id]: id, [LABELS.repository]: repositoryId } },
    spec: {
      podSelector: { matchLabels: { [LABELS.id]: id } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [],
    },
  };
}

const LOCKED = {
  privileged: false,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  procMount: 'Default',
} as const;

/** The container beside waits, and carries bytes of ports: a program in Perl and three of its wrapper for each of 64 connections. */
const BESIDE_LIMITS = { cpus: 1, memoryBytes: 512 * 2 ** 20 } as const;

/**
 * Every field that decides about isolation is given, whatever the cluster's defaults are: the profile `restricted`, and more. A node starts
 * containers one after the other and waits for what the first one has to do when it starts: directories are there before they are mounted.
 *
 * @param addresses of the cluster's API, none of which may answer from inside: `HOST:PORT`
 */
export function podOf(meta: PodMeta, addresses: readonly string[]) {
  const { id, repositoryId, limits } = meta;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(id),
      labels: { [LABELS.id]: id, [LABELS.repository]: repositoryId, 'app.kubernetes.io/managed-by': 'litterbox' },
      annotations: { [ANNOTATIONS.meta]: JSON.stringify(meta) },
    },
    spec: podSpecOf({ ...meta, ...(limits.diskBytes !== undefined && { claimName: podName(id) }) }, addresses),
  };
}

/** All that decides about the containers of a pod. */
export interface PodShape extends Pick<PodMeta, 'image' | 'user' | 'workdir'> {
  readonly limits: { readonly cpus: number; readonly memoryBytes: number };
  /** Name of the claim that has its files. Absent: they lie on the node. */
  readonly claimName?: string;
}

/** The part of {@link podOf} that is equal for all sandboxes of a shape: a template of a pool has it too. */
export function podSpecOf(shape: PodShape, addresses: readonly string[]): object {
  const { image, limits, user, claimName } = shape;
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    hostUsers: false,
    hostNetwork: false,
    hostPID: false,
    hostIPC: false,
    shareProcessNamespace: false,
    hostname: CONTAINER,
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['127.0.0.1'] },
    restartPolicy: 'Always',
    // With 0 who evicts it, or a controller that deletes it, has it forgotten while its programs still run.
    terminationGracePeriodSeconds: 1,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      supplementalGroups: [],
      // A volume belongs to root until somebody says whose it is.
      ...(claimName !== undefined && { fsGroup: user, fsGroupChangePolicy: 'OnRootMismatch' }),
      // The pod's network is its own: no port in there is another's.
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        ...containerOf({ name: BESIDE, image, script: initScript(), limits: BESIDE_LIMITS }),
        volumeMounts: [{ name: 'work', mountPath: WORK }],
        lifecycle: { postStart: { exec: { command: ['/bin/sh', '-c', prepareScript(user, addresses)] } } },
      },
      {
        ...containerOf({ name: CONTAINER, image, script: initScript(), limits }),
        stdin: true,
        volumeMounts: mountsOf(shape),
      },
    ],
    volumes: volumesOf(shape),
  };
}

interface ContainerInput {
  readonly name: string;
  readonly image: string;
  readonly script: string;
  readonly limits: { readonly cpus: number; readonly memoryBytes: number };
}

function containerOf({ name, image, script, limits }: ContainerInput): object {
  const cpu = Math.ceil(limits.cpus * 1000);
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/sh', '-c', script],
    workingDir: '/',
    env: [],
    securityContext: LOCKED,
    resources: {
      requests: { cpu: `${Math.min(name === BESIDE ? 10 : 100, cpu)}m`, memory: name === BESIDE ? '16Mi' : '64Mi' },
      limits: { cpu: `${cpu}m`, memory: `${limits.memoryBytes}` },
    },
  };
}

const volumeName = (directory: string) => directory.slice(1).replaceAll('/', '-');

function mountsOf({ workdir, user }: PodShape): readonly object[] {
  const work = (mountPath: string, subPath: string, readOnly = false) => ({
    name: 'work',
    mountPath,
    subPath,
    readOnly,
  });
  return [
    ...[...new Set([workdir, INSIDE.alias])].map((path) => work(path, 'workspace')),
    work(INSIDE.home, 'home'),
    work(INSIDE.playground, 'playground'),
    ...Object.keys(ownNames({ uid: user, gid: user })).map((file) => work(`/etc/${file}`, `names/${file}`, true)),
    ...EMPTY_PLACES.map((mountPath) => ({ name: 'empty', mountPath, readOnly: true })),
    ...[...TEMPORARY_DIRECTORIES, '/run'].map((directory) => ({ name: volumeName(directory), mountPath: directory })),
  ];
}

function volumesOf({ claimName, limits: { memoryBytes } }: PodShape): readonly object[] {
  const memory = (directory: string, sizeBytes: number) => ({
    name: volumeName(directory),
    emptyDir: { medium: 'Memory', sizeLimit: `${sizeBytes}` },
  });
  return [
    claimName === undefined ? { name: 'work', emptyDir: {} } : { name: 'work', persistentVolumeClaim: { claimName } },
    { name: 'empty', emptyDir: {} },
    ...TEMPORARY_DIRECTORIES.map((directory) => memory(directory, temporaryBytes(memoryBytes))),
    memory('/run', RUN_BYTES),
  ];
}

/** Shell text: makes directories of the sandbox's own user, for mounts that the kubelet would make as root, and looks at the network. */
function prepareScript(user: number, addresses: readonly string[]): string {
  const files = Object.entries(ownNames({ uid: user, gid: user })).map(
    ([name, content]) => `printf %s ${quoted(content)} >new/${name}`,
  );
  // Once: a volume that comes back may be full. A volume of a group hands that on to its directories.
  return `set -e; umask 022; cd ${WORK}
[ ! -d names ] || exit 0
mkdir -m 0755 workspace new; mkdir -m 0700 home playground sockets
${files.join('\n')}
chmod g-s workspace new home playground sockets
mv new names
${beginLooking(addresses)}`;
}
