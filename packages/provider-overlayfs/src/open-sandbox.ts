import { advice, type CallOptions, type Host, step } from '@litterbox/core/provider';
import { baseEnvironment } from '@litterbox/sandbox-kit';
import { placeFilesOf, PlaceRuntime, type SandboxDirectories, type ServedProgram } from '@litterbox/linux-sandbox';
import { cgroupUsage } from './machine/cgroup.ts';
import { strategyNamed } from './strategies/choose-strategy.ts';
import { freezeScript } from './freeze-script.ts';
import { FROZEN, MOST_ENTRIES, WANTS_FRESH_UPPER } from './layers/fresh-upper.ts';
import { launchSession } from './session/launch-session.ts';
import { leavingsOf } from './leavings-of.ts';
import { type HostLook, type LookAhead, lookAtHost, MAX_LOOK_AGE_MS } from './session/look-at-host.ts';
import type { Machine } from './machine/machine.ts';
import { visibleSearchPath } from './machine/visible-search-path.ts';
import type { SandboxMeta } from './session/sandbox-meta.ts';

/** Absolute paths of files on the host by which its sessions are started. */
export interface SessionFiles {
  /** The filter of system calls. */
  readonly filter: string;
  /** The session program; undefined: shell text does what it does. */
  readonly program: string | undefined;
}

/**
 * The runtime of a sandbox. Does nothing until it is asked.
 *
 * @param ahead a look at the host that was begun just now, for the first session
 */
export function openSandbox(
  directories: SandboxDirectories<SandboxMeta>,
  meta: SandboxMeta,
  machine: Machine,
  { filter, program }: SessionFiles,
  ahead?: LookAhead,
): PlaceRuntime {
  const { host, layout, provider } = directories;
  const { cgroup, isRoot } = machine;
  const sandbox = placeFilesOf(directories.filesOf(meta.id).directory);
  const strategy = strategyNamed(meta.strategy, provider);
  const environment = environmentOf(meta, machine);
  const used = strategy.isForShell ? undefined : program;
  let begun = ahead;
  const look = async (call?: CallOptions, first?: ServedProgram): Promise<HostLook> => {
    const looking = begun;
    begun = undefined;
    if (looking && performance.now() - looking.beganAt < MAX_LOOK_AGE_MS) return await looking.look;
    return await lookAtHost({ host, machine, layout, meta, program: used, served: first }, call);
  };
  const launch = { host, machine, layout, sandbox, meta, strategy, filter, environment, program, look };
  const isUpper = strategy.changes === 'upper';
  return new PlaceRuntime({
    provider,
    host,
    id: meta.id,
    files: sandbox,
    workdir: meta.workdir,
    environment,
    allowDegraded: meta.allowDegraded,
    isRoot,
    hasScannerPlace: true,
    ...(program !== undefined && !strategy.isForShell && { program }),
    launch: (call, first) => launchSession(launch, call, first),
    served: () => ahead?.served,
    scanned: {
      changes: isUpper ? '/changes' : '/workspace',
      ...(isUpper && { frozen: `/${FROZEN}` }),
      // What is deleted on a disk of its own shall be free again, which what is frozen is not.
      ...(isUpper && meta.limits.diskBytes === undefined && { onHeld: wantFreshUpper(host, sandbox.directory) }),
      workspace: '/workspace',
      ...(isUpper && meta.prepared !== undefined && { prepared: '/prepared' }),
      ...(meta.isCopy && { isCopy: true }),
    },
    ...(meta.prepared !== undefined && { prepared: meta.prepared.key }),
    ...(meta.live && { live: meta.live.directory }),
    ...(meta.firstMark !== undefined && { firstMark: meta.firstMark }),
    freezeHint: advice`This user may not make control groups: stop it instead with ${step('sandbox-stop')}, or run ${step('machine-check')} for the command that hands them to this user.`,
    leavings: leavingsOf(machine, meta.id),
    ...(cgroup && {
      freeze: (isFrozen: boolean) => freezeScript(cgroup, meta.id, isFrozen),
      usage: cgroupUsage(cgroup, meta.id, sandbox.directory),
    }),
  });
}

/** The environment of processes inside. */
function environmentOf(meta: SandboxMeta, machine: Machine): Readonly<Record<string, string>> {
  const rustup = machine.toolDirectories.find((tool) => tool.path.endsWith('/.rustup'));
  return {
    ...baseEnvironment(meta.slug, searchPathOf(meta, machine).join(':')),
    // Its programs look for tool chains in the home, which is the sandbox's own.
    ...(rustup && meta.root.type === 'machine' && { RUSTUP_HOME: rustup.path }),
    ...meta.environment,
  };
}

/** Says, once, that the next session of the sandbox in that directory shall begin with a fresh upper layer. */
function wantFreshUpper(host: Host, directory: string): (entries: number) => void {
  let isWanted = false;
  return (entries) => {
    if (isWanted || entries < MOST_ENTRIES) return;
    isWanted = true;
    // Where it cannot be written scans stay slow, and nothing else.
    void host.files.write(`${directory}/${WANTS_FRESH_UPPER}`, new Uint8Array()).catch(() => {});
  };
}

/** Directories of programs inside, in order: `machine` is as the sandbox's own {@link SandboxMeta.searchPath} makes it. */
function searchPathOf({ root }: SandboxMeta, machine: Machine): readonly string[] {
  if (root.type !== 'machine') return ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
  return [...new Set([...visibleSearchPath(machine), '/usr/local/bin', '/usr/bin', '/bin'])];
}
