import { createHash } from 'node:crypto';
import { INSIDE, type SandboxId, quoted } from '@litterbox/core/provider';
import { INIT_SCRIPT, ownNames, TEMPORARY_DIRECTORIES, temporaryBytes } from '@litterbox/sandbox-kit';
import { CONTAINER } from './pod-exec.ts';
import { ANNOTATIONS, LABELS, type PodMeta, podName } from './pod-meta.ts';

/** Where the container that prepares a pod has the volume that the sandbox writes to. */
const WORK = '/litterbox';
/** Directories in which every Linux shows the devices of its machine, laid over with an empty one; of /proc the runtime has masks of its own. */
export const EMPTY_PLACES = ['block', 'bus', 'class', 'dev', 'devices', 'kernel', 'module'].map(
  (name) => `/sys/${name}`,
);
/** The small directory that every sandbox has for sockets and numbers of processes. */
const RUN_BYTES = 64 * 2 ** 20;
const NOBODY_ELSE = { first: 1_000_000_000, count: 1_000_000_000 } as const;

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

/** Every field that decides about isolation is given, whatever the cluster's defaults are: the profile `restricted`, and more. */
export function podOf(meta: PodMeta): object {
  const { id, repositoryId, limits, user } = meta;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(id),
      labels: { [LABELS.id]: id, [LABELS.repository]: repositoryId, 'app.kubernetes.io/managed-by': 'litterbox' },
      annotations: { [ANNOTATIONS.meta]: JSON.stringify(meta) },
    },
    spec: {
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
      terminationGracePeriodSeconds: 0,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        supplementalGroups: [],
        // The pod's network is its own: no port in there is another's.
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
        seccompProfile: { type: 'RuntimeDefault' },
      },
      initContainers: [
        {
          ...containerOf(meta, 'prepare', prepareScript(user)),
          volumeMounts: [{ name: 'work', mountPath: WORK }],
        },
      ],
      containers: [{ ...containerOf(meta, CONTAINER, INIT_SCRIPT), stdin: true, volumeMounts: mountsOf(meta) }],
      volumes: volumesOf(limits),
    },
  };
}

function containerOf({ image, limits }: PodMeta, name: string, script: string): object {
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
      requests: { cpu: `${Math.min(100, cpu)}m`, memory: '64Mi' },
      limits: { cpu: `${cpu}m`, memory: `${limits.memoryBytes}` },
    },
  };
}

const volumeName = (directory: string) => directory.slice(1).replaceAll('/', '-');

function mountsOf({ workdir, user }: PodMeta): readonly object[] {
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
    ...EMPTY_PLACES.map((path) => work(path, 'empty', true)),
    ...[...TEMPORARY_DIRECTORIES, '/run'].map((directory) => ({ name: volumeName(directory), mountPath: directory })),
  ];
}

function volumesOf({ memoryBytes }: PodMeta['limits']): readonly object[] {
  const memory = (directory: string, sizeBytes: number) => ({
    name: volumeName(directory),
    emptyDir: { medium: 'Memory', sizeLimit: `${sizeBytes}` },
  });
  return [
    { name: 'work', emptyDir: {} },
    ...TEMPORARY_DIRECTORIES.map((directory) => memory(directory, temporaryBytes(memoryBytes))),
    memory('/run', RUN_BYTES),
  ];
}

/** Shell text: directories of the sandbox's own user, for mounts that the kubelet would make as root. */
function prepareScript(user: number): string {
  const files = Object.entries(ownNames({ uid: user, gid: user })).map(
    ([name, content]) => `printf %s ${quoted(content)} >names/${name}`,
  );
  return `set -e; umask 022; cd ${WORK}
[ -d workspace ] || { mkdir -m 0755 workspace names empty; mkdir -m 0700 home playground; }
${files.join('\n')}`;
}
