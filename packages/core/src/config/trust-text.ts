import type { Config } from './config-schema.ts';
import { DEFAULT_LIMITS } from './policy-of.ts';

/** What a provider gives when nobody asks, if the machine lets it. */
const ORDINARY_OPEN_FILES = 4096;

/**
 * The keys by which this file opens more than a sandbox gets anyway: code that runs unasked, programs and files from
 * elsewhere, the network, secrets, more of the machine. A person has to agree to them once.
 */
export function widens(config: Config): readonly string[] {
  return wideningValues(config).map(([key]) => key);
}

/**
 * Those keys with their values, one a line, sorted: what a person agrees to, and what its hash stands for. Anything else
 * in the file, comments and order included, may change without asking again. Empty when there is nothing to agree to.
 */
export function trustText(config: Config): string {
  return wideningValues(config)
    .map(([key, value]) => `${key} = ${canonical(value)}\n`)
    .join('');
}

function wideningValues(config: Config): readonly (readonly [key: string, value: unknown])[] {
  const { container, kubernetes, limits, network, overlayfs } = config;
  const found: [string, unknown][] = [];
  const note = (key: string, value: unknown, isWider: boolean) => {
    if (isWider) found.push([key, value]);
  };
  const noteTable = (key: string, table: Readonly<Record<string, unknown>>) => {
    for (const [name, value] of Object.entries(table)) found.push([`${key}.${name}`, value]);
  };
  note('allow-degraded', true, config.allowDegraded);
  note('container.base-image', container.baseImage, container.baseImage !== undefined);
  noteTable('container.env', container.environment);
  noteTable('container.ports', container.ports);
  noteTable('container.services', container.services);
  note('container.install-command', container.install, container.install.length > 0);
  note('container.setup-command', container.setup, container.setup.length > 0);
  // A secret of the person's goes to that server, with whatever a program inside sends there.
  noteTable('endpoints', config.endpoints);
  // The code of the repository goes to those machines.
  note('hosts', config.hosts, config.hosts !== undefined);
  // Files that no commit holds enter the sandbox then, whatever is in them.
  note('include', config.include, config.include.length > 0);
  // The pods of a pool are made of an image that its template names.
  note('kubernetes.pods', kubernetes.pods, kubernetes.pods !== 'litterbox');
  note('limits.cpus', limits.cpus, (limits.cpus ?? 0) > DEFAULT_LIMITS.cpus);
  note('limits.memory', limits.memoryBytes, (limits.memoryBytes ?? 0) > DEFAULT_LIMITS.memoryBytes);
  note('limits.open-files', limits.openFiles, (limits.openFiles ?? 0) > ORDINARY_OPEN_FILES);
  note('limits.processes', limits.processes, (limits.processes ?? 0) > DEFAULT_LIMITS.processes);
  note('mcp.git', true, config.mcp.git);
  note('network.allow', network.allow, network.allow.length > 0);
  const { allowPrivate = [] } = network;
  note('network.allow-private', allowPrivate, allowPrivate.length > 0);
  // An exception narrows, but taking one away widens: it is part of what was agreed to.
  note('network.deny', network.deny, network.allow.length + allowPrivate.length > 0 && network.deny.length > 0);
  // The network of the person's machine is another one than that of the sandbox's.
  note('network.from', network.from, network.from === 'here');
  note('network.run', network.run, network.run !== 'none');
  note('network.setup', network.setup, network.setup !== 'none');
  note('overlayfs.lower', overlayfs.lower, overlayfs.lower !== 'frozen');
  note('overlayfs.rootfs', overlayfs.rootfs, overlayfs.rootfs !== undefined);
  note('playground.scope', config.playground.scope, config.playground.scope !== 'sandbox');
  // Another provider may isolate less than the one that would be taken, and an engine fetches images.
  note('provider', config.provider, config.provider !== undefined && config.provider !== 'overlayfs');
  noteTable('secrets', config.secrets);
  // Uncommitted and untracked files enter the sandbox then.
  note('source', config.source, config.source !== 'head');
  note('ssh', config.ssh, config.ssh !== undefined);
  // Files that an agent wrote are put in reach of the person's programs without a question then.
  note('worktrees', config.worktrees, config.worktrees !== 'on-demand');
  return found.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
}

/** JSON with sorted members on one line. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}
