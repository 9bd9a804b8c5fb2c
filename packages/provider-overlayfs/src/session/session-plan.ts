import {
  CORE_LIMIT_BYTES,
  FIRST_PROGRAM,
  PLACE_ARGUMENTS,
  RESERVE_DISK,
  SANDBOX_USER,
  type PlanEntry,
} from '@litterbox/linux-sandbox';
import { CLOSED, MASKS, sandboxArguments, scannedTrees } from './bwrap-arguments.ts';
import { cgroupSteps, groupWords } from './cgroup-steps.ts';
import { detachSteps } from './detach-trees.ts';
import { DISK, mountLayers } from '../layers/disk.ts';
import { FRESH_UPPER, FROZEN } from '../layers/fresh-upper.ts';
import { hideOfLive, LIVE, mountLive } from '../layers/live-lower.ts';
import { mountStep } from '../plan/mount-table.ts';
import { shellStep } from '../plan/shell-step.ts';
import { sessionMounts } from './session-mounts.ts';
import { PROCESSORS, type SupervisorInput } from './supervisor-input.ts';
import { EMPTY_CONTENTS } from '../machine/tool-directories.ts';

/** Where a session has the session program for the sandbox: bubblewrap, as the sandbox's user, may not get at the state directory. */
const FIRST = '/run/first';

/**
 * What the session program does, in the order in which it does it. It carries out what is decided here and decides nothing.
 *
 * @param environment of processes inside
 * @param program absolute path of the session program, which is the sandbox's process 1 as well
 */
export function sessionPlan(
  input: SupervisorInput,
  environment: Readonly<Record<string, string>>,
  program: string,
): readonly PlanEntry[] {
  const { machine, meta, strategy, directory, live, setup, unwanted, disk, filter, sources, proc, processors } = input;
  const { cgroup, isRoot } = machine;
  const { places, own, mounts, trees, tools } = sessionMounts(input);
  const layers = strategy.layers.map(({ name }) => name).filter((name) => name !== FROZEN);
  const owner = `${SANDBOX_USER.uid}:${SANDBOX_USER.gid}`;
  return [
    ['directory', directory],
    isRoot ? ['user', `${SANDBOX_USER.uid}`, `${SANDBOX_USER.gid}`] : ['own-users'],
    ...(cgroup ? [['groups', `${cgroup.version}`, ...groupWords(cgroup, meta.id)] as const] : []),
    ['open-files', `${meta.limits.openFiles}`],
    ['core-bytes', `${CORE_LIMIT_BYTES}`],
    ['processors', ...processors.map(String)],
    ['filter', filter],
    ['unwanted', ...unwanted],
    ...(meta.limits.diskBytes === undefined ? [] : [['disk', DISK] as const]),
    ['environment', ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value])],
    [
      'sandbox',
      'bwrap',
      ...sandboxArguments(machine, meta, sources, proc, [FIRST, FIRST_PROGRAM]),
      '--json-status-fd',
      '8',
      '--seccomp',
      '9',
      '--',
      ...PLACE_ARGUMENTS,
    ],
    ['scanned', '/run/scan-io', 'io', ...scannedTrees(strategy.changes, setup !== undefined).flat()],
    ['places', ...places],
    ...(strategy.begin === undefined ? [] : [['layers', FRESH_UPPER] as const]),
    mountStep(own),
    ['enter', '/run'],
    ...(disk ? [shellStep(mountLayers(disk, owner, layers))] : []),
    ...(live ? [shellStep(`${mountLive(live, isRoot, LIVE)}${hideOfLive(live)}`)] : []),
    ...mounts.map(mountStep),
    ...(disk ? [shellStep(RESERVE_DISK)] : []),
    ...(strategy.attach === undefined ? [] : [shellStep(strategy.attach)]),
    ...detachSteps(trees, tools, isRoot),
    ...(processors.length === 0 ? [] : [['write', PROCESSORS, `${processors.join()}\n`, '644'] as const]),
    ...(cgroup ? cgroupSteps(cgroup, meta.id, meta.limits, processors) : []),
    ['write', CLOSED, '', '0'],
    ['write', FIRST, '', '0'],
    ['bind', program, FIRST],
    ...(sources.masked.length === 0
      ? []
      : [
          ['places', MASKS] as const,
          ...Object.entries({ empty: '', ...EMPTY_CONTENTS }).map(
            ([name, text]) => ['write', `${MASKS}/${name}`, text, '644'] as const,
          ),
        ]),
    ['go'],
  ];
}
