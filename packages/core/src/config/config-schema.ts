import * as z from 'zod';
import { agentTables } from './agent-table.ts';
import { hostDirectory, workdirPath } from './settings/absolute-path.ts';
import { byteSize } from './settings/byte-size.ts';
import { duration } from './settings/duration.ts';
import { endpointTable } from './settings/endpoint-table.ts';
import { environmentTable } from './settings/environment-table.ts';
import { hostList } from './settings/host-list.ts';
import { imageReference } from './settings/image-reference.ts';
import { includeList } from './settings/include-list.ts';
import { networkRules, privateRules } from './settings/network-rules.ts';
import { podMaker } from './settings/pod-maker.ts';
import { portTable } from './settings/port-table.ts';
import { noInlineSecret, secretTable } from './settings/secret-table.ts';
import { providerChoice } from './settings/provider-choice.ts';
import { serviceTable } from './settings/service-table.ts';
import { choice, count, Refused, refusedValue, setting, truth } from './settings/setting.ts';
import { setupCommand } from './settings/setup-command.ts';
import { sshHost, sshUser } from './settings/ssh-host.ts';

const container = z
  .object({
    'base-image': imageReference('Container image that sandboxes start from.').optional(),
    'install-command': setupCommand(
      'What is installed into the image, once, as root, with the workspace read-only:',
      'install-command = ["apt-get", "install", "-y", "jq"]',
    ).optional(),
    'setup-command': setupCommand('What prepares a new sandbox, once:', 'setup-command = ["npm", "ci"]').optional(),
    services: serviceTable().optional(),
    ports: portTable().optional(),
    supervisor: choice(
      ['litterbox', 'supervisord', 's6', 'runit'],
      'Who looks after services: Litterbox from outside, or a supervisor that the image has.',
    ).default('litterbox'),
    env: environmentTable().optional(),
  })
  .transform((table) => ({
    baseImage: table['base-image'],
    install: table['install-command'] ?? [],
    setup: table['setup-command'] ?? [],
    services: table.services ?? {},
    ports: table.ports ?? {},
    supervisor: table.supervisor,
    environment: table.env ?? {},
  }));

const cpus = setting(
  { type: 'number', minimum: 0.01, maximum: 1024, description: 'Processors, fractions allowed. Default 2.' },
  (value): number | Refused => {
    if (typeof value === 'number' && value >= 0.01 && value <= 1024) return value;
    const code = typeof value === 'number' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
    return refusedValue(code, value, 'a number, 0.01..1024', 'Write 0.5 for half a processor, 2 for two.');
  },
);

const limits = z
  .object({
    memory: byteSize('64MiB', '16TiB', 'Memory of all processes together. Default "4GiB".').optional(),
    cpus: cpus.optional(),
    processes: count(16, 4_194_304, 'Processes and threads at once. Default 512.').optional(),
    'open-files': count(64, 1_048_576, 'Open descriptors per process. Default 4096.').optional(),
    disk: byteSize('16MiB', '16TiB', 'What the sandbox may write in all.').optional(),
    'disk-io': byteSize('64KiB', '1TiB', 'Bytes read and written per second.').optional(),
    timeout: duration('1s', '24h', 'For a command without a timeout of its own. Default "2m".').optional(),
    'setup-timeout': duration('1s', '24h', 'For the setup as a whole. Default "10m".').optional(),
  })
  .transform((table) => ({
    memoryBytes: table.memory,
    cpus: table.cpus,
    processes: table.processes,
    openFiles: table['open-files'],
    diskBytes: table.disk,
    diskBytesPerSecond: table['disk-io'],
    timeoutMs: table.timeout,
    setupTimeoutMs: table['setup-timeout'],
  }));

const network = z
  .object({
    setup: choice(['none', 'allow-list'], 'What the setup may reach.').default('none'),
    run: choice(['none', 'allow-list'], 'What commands may reach.').default('none'),
    allow: networkRules('Hosts that may be reached through the proxy.').default([]),
    'allow-private': privateRules('Hosts that may be reached at an address of a private network.').optional(),
    deny: networkRules('Exceptions from `allow` and `allow-private`.').default([]),
    from: choice(
      ['there', 'here'],
      'From where connections of a sandbox on another machine are made: from its machine, or from the one that Litterbox runs on. Default "there".',
    ).optional(),
  })
  .transform(({ 'allow-private': allowPrivate = [], from, ...rest }) => ({
    ...rest,
    ...(allowPrivate.length > 0 && { allowPrivate }),
    ...(from !== undefined && { from }),
  }));

const ssh = z
  .object({
    host: sshHost('Machine to run on.'),
    port: count(1, 65_535, 'Default 22.').optional(),
    user: sshUser('Login name there.').optional(),
    'identity-file': hostDirectory('Private key file.').optional(),
  })
  .transform((table) => ({
    host: table.host,
    port: table.port,
    user: table.user,
    identityFile: table['identity-file'],
  }));

const overlayfs = z.object({
  lower: choice(['frozen', 'live'], 'Start from a frozen tree of the base, or from the live working tree.').default(
    'frozen',
  ),
  rootfs: hostDirectory('Directory with a root file system, instead of the programs of this machine.').optional(),
  strategy: choice(['auto', 'overlay', 'btrfs', 'zfs', 'reflink', 'copy'], 'How the workspace is cloned.').default(
    'auto',
  ),
});

const kubernetes = z.object({
  pods: podMaker(
    'Who makes pods: "litterbox"; "agent-sandbox", whose controller the cluster must have; or "warm-pool/NAME", a pool of it, with the image and limits of its template.',
  ).default('litterbox'),
});

const retention = z
  .object({
    'max-age': duration('1h', '3650d', 'Sandboxes unused for longer are proposed for removal.').optional(),
    'max-sandboxes': count(1, 100_000, 'More than this many are proposed, oldest first.').optional(),
    'max-disk': byteSize('1MiB', '1024TiB', 'More than this much is proposed, oldest first.').optional(),
  })
  .transform((table) => ({
    maxAgeMs: table['max-age'],
    maxSandboxes: table['max-sandboxes'],
    maxDiskBytes: table['max-disk'],
  }));

const noMounts = setting(
  { type: 'array', maxItems: 0, description: 'Not possible: nothing of this machine is mounted into a sandbox.' },
  (value): readonly string[] | Refused =>
    Array.isArray(value) && value.length === 0
      ? []
      : refusedValue(
          'MOUNT_FORBIDDEN',
          value,
          'no mounts: a repository may not ask for files of this machine',
          'Commit what the sandbox needs, or fetch it in the setup.',
        ),
);

/** The whole of `.litterbox.toml`. Keys as in the file on the way in, with units in their names on the way out. */
export const ConfigSchema = z
  .object({
    provider: providerChoice(
      'Provider that runs sandboxes, and its machine. Default: the first that works here.',
    ).optional(),
    hosts: hostList(
      'Machines of yours that a sandbox may run on: Litterbox takes the one with the most room. Default: this one.',
    ).optional(),
    source: choice(
      ['head', 'worktree'],
      'Start from HEAD, or from the working tree with its uncommitted changes.',
    ).default('head'),
    include: includeList('Files and directories of the working tree to copy in although git ignores them.').default([]),
    worktrees: choice(['on-demand', 'eager'], 'When `.litterbox/worktrees/NAME` is refreshed.').default('on-demand'),
    'allow-degraded': truth('Use sandboxes although a security control is missing on this machine.').default(false),
    mounts: noMounts.default([]),
    container: container.prefault({}),
    limits: limits.prefault({}),
    network: network.prefault({}),
    playground: z
      .object({ scope: choice(['sandbox', 'shared'], 'Whose scratch directory it is.').default('sandbox') })
      .prefault({}),
    workspace: z
      .object({
        git: choice(['none', 'throwaway'], 'Whether the workspace has a one-commit repository of its own.').default(
          'none',
        ),
        workdir: workdirPath('Where the workspace is inside.').optional(),
      })
      .prefault({}),
    revisions: z
      .object({ 'require-message': truth('Refuse a change without a message.').default(false) })
      .transform((table) => ({ requireMessage: table['require-message'] }))
      .prefault({}),
    secrets: secretTable().default({}),
    endpoints: endpointTable().default({}),
    agents: agentTables().default({}),
    secret: noInlineSecret().optional(),
    ssh: ssh.optional(),
    overlayfs: overlayfs.prefault({}),
    kubernetes: kubernetes.prefault({}),
    retention: retention.prefault({}),
    mcp: z
      .object({
        tools: choice(['standard', 'roadmap'], 'Names of the tools that agents see.').default('standard'),
        git: truth('Offer agents a git tool for the playground.').default(false),
      })
      .prefault({}),
  })
  .transform(({ 'allow-degraded': allowDegraded, secret: _secret, mounts: _mounts, ...rest }) => ({
    ...rest,
    allowDegraded,
  }));

/** A configuration that was read and checked: complete, in units that the names tell. */
export type Config = z.output<typeof ConfigSchema>;
