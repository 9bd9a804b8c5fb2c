import {
  type DirectoryLayout,
  type Launch,
  type PlaceFiles,
  type ServedProgram,
  encodePlan,
} from '@litterbox/linux-sandbox';
import { advice, type CallOptions, encodeRaw, type Host, LitterboxError, step } from '@litterbox/core/provider';
import { assuranceOf } from './assurance-of.ts';
import { environmentArguments } from './bwrap-arguments.ts';
import { foreignOverlays } from '../machine/foreign-overlays.ts';
import { imageOf } from './image-of.ts';
import { artefactDirectory, baseDirectory, setupDirectory } from './layout.ts';
import type { HostLook } from './look-at-host.ts';
import type { Machine } from '../machine/machine.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import { sessionPlan } from './session-plan.ts';
import type { Strategy } from '../strategies/strategy.ts';
import { supervisorScript } from './supervisor-script.ts';

export interface LaunchInput {
  readonly host: Host;
  readonly machine: Machine;
  readonly layout: DirectoryLayout;
  readonly sandbox: PlaceFiles;
  readonly meta: SandboxMeta;
  readonly strategy: Strategy;
  readonly filter: string;
  /** The environment of processes inside. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path of the session program; undefined: shell text does what it does. */
  readonly program: string | undefined;
  /** Looks at the host as it is now. */
  look(options?: CallOptions, served?: ServedProgram): Promise<HostLook>;
}

/** How a session is started: namespaces, overlay and first process, by a supervisor in a mount namespace of its own. */
export async function launchSession(
  input: LaunchInput,
  options?: CallOptions,
  served?: ServedProgram,
): Promise<Launch> {
  const { machine, layout, sandbox, meta, strategy, filter, environment } = input;
  const { etc, sources, proc, namespaces, overlays, processors } = await input.look(options, served);
  const program = strategy.isForShell ? undefined : input.program;
  const disk = imageOf(layout, strategy, meta);
  const base = meta.live?.directory ?? baseDirectory(layout, strategy, meta.over?.base ?? meta.base);
  const playground = `${layout.playgrounds}/${meta.playground}`;
  const over = meta.newer === undefined ? artefactDirectory(layout, meta) : `${layout.bases}/${meta.newer}`;
  const needed = [
    '/usr',
    '/etc',
    layout.root,
    sandbox.directory,
    base,
    playground,
    etc,
    filter,
    ...sources.tools.map(({ target }) => target),
    ...(meta.root.type === 'directory' ? [meta.root.path] : []),
  ];
  const decided = {
    machine,
    meta,
    strategy,
    filter,
    sources,
    proc,
    etc,
    processors,
    directory: sandbox.directory,
    ...(meta.live && { live: meta.live }),
    base,
    playground,
    unwanted: foreignOverlays(overlays, needed),
    ...(disk && { disk }),
    ...(meta.over && { difference: `${layout.bases}/${meta.over.difference}` }),
    ...(over !== undefined && { newer: over }),
    ...(meta.prepared && {
      setup: setupDirectory(layout, { strategy, base: meta.base, programs: meta.prepared.programs }, meta.prepared.key),
    }),
  };
  // The launcher is ended with this call; the supervisor, in a session of its own, is nobody's child from there on.
  const launcher = `exec 3<&0; setsid unshare ${machine.isRoot ? '' : '-Ur '}-m -p --propagation private sh -c "$0" <&3 3<&- & exec 3<&-; wait`;
  const isByLink = program !== undefined && machine.scope === undefined;
  const started =
    program === undefined
      ? {
          argv: ['sh', '-c', launcher, supervisorScript(decided)],
          given: encodeRaw(`${environmentArguments(environment)}\n`),
        }
      : {
          argv: [program, 'session'],
          given: encodePlan([
            ...(isByLink ? [['session'] as const] : []),
            ...sessionPlan(decided, environment, program),
          ]),
        };
  const [first, ...words] = [...(machine.scope ?? []), ...started.argv];
  return {
    argv: [first ?? 'sh', ...words],
    given: started.given,
    isByLink,
    namespaces,
    hasScanner: program !== undefined,
    takesPlans: program !== undefined,
    judge: (facts) => {
      const masked = sources.masked.map(({ path }) => path);
      const assurance = assuranceOf(machine, meta, strategy, [...Object.keys(environment), 'PWD'], masked, facts);
      const loose =
        meta.limits.diskBytes !== undefined &&
        assurance.controls.find(({ name, status }) => name === 'disk' && status !== 'enforced');
      if (!loose) return assurance;
      // Nobody has to ask for this control; who did by name does not go without it.
      throw new LitterboxError('DEGRADED', `The sandbox would run without its limit of disk: ${loose.finding}.`, {
        operation: 'provider.start',
        provider: machine.provider,
        hint: loose.remedy ?? advice`Run ${step('machine-check')}.`,
      });
    },
  };
}
