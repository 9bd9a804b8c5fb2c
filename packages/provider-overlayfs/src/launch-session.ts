import {
  allowedProcessors,
  chooseProcessors,
  type DirectoryLayout,
  etcDirectoryScript,
  HOST_NAMESPACES_SCRIPT,
  type Launch,
  parseProcessors,
  MASKED_PROC_DIRECTORIES,
  MASKED_PROC_FILES,
  type PlaceFiles,
  READ_ONLY_PROC,
  runScriptOrFail,
} from '@litterbox/linux-sandbox';
import {
  decodeRaw,
  encodeRaw,
  INSIDE,
  type CallOptions,
  type Host,
  LitterboxError,
  meetsOwnPlaces,
  quoted,
  advice,
  step,
} from '@litterbox/core/provider';
import { assuranceOf } from './assurance-of.ts';
import { boundSockets } from './bound-sockets.ts';
import { environmentArguments, type ProcEntries, type SessionSources } from './bwrap-arguments.ts';
import { foreignOverlays, OVERLAYS_SCRIPT } from './foreign-overlays.ts';
import { imageOf } from './image-of.ts';
import { artefactDirectory, baseDirectory, setupDirectory } from './layout.ts';
import type { Machine } from './machine.ts';
import { rootEntries } from './root-entries.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import { encodePlan, sessionPlan } from './session-plan.ts';
import type { Strategy } from './strategies/strategy.ts';
import { PROCESSORS } from './supervisor-input.ts';
import { supervisorScript } from './supervisor-script.ts';
import { findCredentials } from './tool-directories.ts';

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
}

/** How a session is started: namespaces, overlay and first process, by a supervisor in a mount namespace of its own. */
export async function launchSession(input: LaunchInput, options?: CallOptions): Promise<Launch> {
  const { machine, layout, sandbox, meta, strategy, filter, environment } = input;
  const { etc, sources, proc, namespaces, overlays, processors } = await prelude(input, options);
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
  const started =
    program === undefined
      ? {
          argv: ['sh', '-c', launcher, supervisorScript(decided)],
          given: encodeRaw(`${environmentArguments(environment)}\n`),
        }
      : { argv: [program, 'session'], given: encodePlan(sessionPlan(decided, environment)) };
  const [first, ...words] = [...(machine.scope ?? []), ...started.argv];
  return {
    argv: [first ?? 'sh', ...words],
    given: started.given,
    namespaces,
    hasScanner: program !== undefined,
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

/** What a session start needs to know of the host as it is now. */
interface Prelude {
  readonly etc: string;
  readonly sources: SessionSources;
  readonly proc: ProcEntries;
  readonly namespaces: string;
  /** As {@link OVERLAYS_SCRIPT} prints them. */
  readonly overlays: string;
  /** Numbers of the processors that its programs get; none when it is not known what there are. */
  readonly processors: readonly number[];
}

async function prelude({ host, machine, layout, meta }: LaunchInput, options?: CallOptions): Promise<Prelude> {
  // Bubblewrap makes the place of a mount by its path, and follows a link that an earlier session left there.
  if (meetsOwnPlaces(meta.workdir)) {
    throw new LitterboxError(
      'INVALID_ARGUMENT',
      `The workspace cannot be at ${meta.workdir}: the agent can put a link there.`,
      {
        operation: 'provider.start',
        provider: machine.provider,
        hint: 'Create the sandbox again with another workspace.workdir, such as /src.',
      },
    );
  }
  const isMachine = meta.root.type === 'machine';
  const tools = isMachine
    ? machine.toolDirectories.map(({ path }, index) => ({ source: `/run/tools/${index}`, target: path }))
    : [];
  const script = `${etcDirectoryScript(layout.root, INSIDE.user)}
printf '\\0'
${HOST_NAMESPACES_SCRIPT}
printf '\\0'
for p in ${[...MASKED_PROC_FILES, ...READ_ONLY_PROC, ...MASKED_PROC_DIRECTORIES].join(' ')}; do [ -e $p ] && echo $p; done
printf '\\0'
cat ${quoted(layout.sandboxes)}/*/${PROCESSORS} 2>/dev/null
printf '\\0'
${machine.isRoot ? OVERLAYS_SCRIPT : ''}
printf '\\0'
${findCredentials(tools.map(({ target }) => target))}
:`;
  const [said, sockets, status] = await Promise.all([
    runScriptOrFail(host, 'provider.start', script, options),
    isMachine ? programSockets(host, machine, options) : [],
    host.files.read('/proc/self/status', options),
  ]);
  const [etc = '', namespaces = '', procList = '', taken = '', overlays = '', ...masked] = said.split('\0');
  const existing = new Set(procList.trim().split('\n'));
  const entries =
    meta.root.type === 'directory'
      ? await rootEntries(host, machine.provider, meta.root.path, meta.workdir, options)
      : [];
  return {
    etc,
    namespaces,
    overlays,
    processors: chooseProcessors(
      allowedProcessors(decodeRaw(status ?? new Uint8Array())),
      meta.limits.cpus,
      taken.split('\n').map(parseProcessors),
    ),
    proc: {
      files: MASKED_PROC_FILES.filter((path) => existing.has(path)),
      directories: MASKED_PROC_DIRECTORIES.filter((path) => existing.has(path)),
      readOnly: READ_ONLY_PROC.filter((path) => existing.has(path)),
    },
    sources: {
      tools,
      masked: [
        ...sockets.map((path) => ({ path, type: 'special' as const })),
        ...maskedOnes(
          masked,
          tools.map(({ target }) => target),
        ),
      ],
      rootEntries: entries,
    },
  };
}

/** What is in a directory that looks empty needs no mask of its own, and what a link leads to elsewhere is not shown. */
function maskedOnes(lines: readonly string[], tools: readonly string[]): SessionSources['masked'] {
  const isWithin = (path: string, tree: string) => path.startsWith(`${tree}/`);
  const found = new Map(lines.map((line) => [line.slice(2), TYPES[line[0] ?? ''] ?? ('special' as const)]));
  found.delete('');
  const directories = [...found].filter(([, type]) => type === 'directory').map(([path]) => path);
  return [...found]
    .filter(([path]) => tools.some((tool) => isWithin(path, tool)) && !directories.some((one) => isWithin(path, one)))
    .map(([path, type]) => ({ path, type }));
}

/** By the letters of `find`. */
const TYPES: Readonly<Record<string, 'directory' | 'file'>> = { d: 'directory', f: 'file' };

/** Sockets of the host among its programs, which root alone can have put there. */
async function programSockets(host: Host, machine: Machine, options?: CallOptions): Promise<readonly string[]> {
  const table = await host.files.read('/proc/net/unix', options);
  const paths = boundSockets(decodeRaw(table ?? new Uint8Array()), [
    '/usr',
    ...machine.rootDirectories.map((name) => `/${name}`),
  ]);
  const stats = await Promise.all(paths.map(async (path) => await host.files.stat(path, options)));
  return paths.filter((_path, index) => stats[index]?.type === 'special');
}
