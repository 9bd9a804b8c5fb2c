import {
  MASKED_PROC_DIRECTORIES,
  MASKED_PROC_FILES,
  type Place,
  READ_ONLY_PROC,
  seccompProfile,
} from '@litterbox/linux-sandbox';

const PERIOD_US = 100_000;

/** The place as a bundle of the Open Container Initiative. @see https://github.com/opencontainers/runtime-spec/blob/main/config.md */
export function bundle(place: Place, user: { readonly uid: number; readonly gid: number }): object {
  const { memoryBytes, cpus, processes, openFiles } = place.limits;
  const device = ['nosuid', 'noexec'];
  return {
    ociVersion: '1.0.2',
    hostname: 'sandbox',
    root: { path: place.root, readonly: true },
    process: {
      terminal: false,
      user: { ...user, umask: 0o022 },
      args: place.argv,
      env: Object.entries(place.environment).map(([name, value]) => `${name}=${value}`),
      cwd: place.workdir,
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
      noNewPrivileges: true,
      oomScoreAdj: 500,
      rlimits: [
        { type: 'RLIMIT_NOFILE', soft: openFiles, hard: openFiles },
        { type: 'RLIMIT_CORE', soft: 0, hard: 0 },
      ],
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: [...device, 'mode=755', 'size=64k'] },
      {
        destination: '/dev/pts',
        type: 'devpts',
        source: 'devpts',
        options: [...device, 'newinstance', 'ptmxmode=0666', 'mode=0620'],
      },
      // By these files programs find out how much they may use, and a call what they were refused. An empty /sys around them hides the rest.
      { destination: '/sys', type: 'tmpfs', source: 'tmpfs', options: [...device, 'ro', 'mode=755', 'size=0'] },
      { destination: '/sys/fs/cgroup', type: 'cgroup', source: 'cgroup', options: [...device, 'ro'] },
      ...place.temporary.map(({ target, sizeBytes }) => ({
        destination: target,
        type: 'tmpfs',
        source: 'tmpfs',
        options: ['nosuid', 'nodev', 'mode=1777', `size=${sizeBytes}`],
      })),
      ...place.binds.map(({ source, target, isReadOnly }) => ({
        destination: target,
        type: 'bind',
        source,
        options: ['rbind', 'rprivate', 'nosuid', 'nodev', isReadOnly ? 'ro' : 'rw'],
      })),
    ],
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount', 'cgroup'].map((type) => ({ type })),
      cgroupsPath: `/litterbox-{{name}}/${place.id}`,
      resources: {
        devices: [{ allow: false, access: 'rwm' }],
        memory: { limit: memoryBytes, swap: memoryBytes },
        cpu: {
          quota: Math.max(1_000, Math.round(cpus * PERIOD_US)),
          period: PERIOD_US,
          ...(place.processors.length > 0 && { cpus: place.processors.join() }),
        },
        pids: { limit: processes },
      },
      seccomp: seccompProfile(),
      maskedPaths: [...MASKED_PROC_FILES, ...MASKED_PROC_DIRECTORIES],
      // runc leaves the directory that holds the control groups open for writing.
      readonlyPaths: [...READ_ONLY_PROC, '/sys/fs/cgroup'],
    },
  };
}
