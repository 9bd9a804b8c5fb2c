import {
  allowedProcessors,
  chooseProcessors,
  type DirectoryLayout,
  ETC_SOURCES,
  etcDirectoryScript,
  etcPrefix,
  HOST_NAMESPACES,
  HOST_NAMESPACES_SCRIPT,
  MASKED_PROC_DIRECTORIES,
  MASKED_PROC_FILES,
  parseProcessors,
  READ_ONLY_PROC,
  runProgram,
  runScriptOrFail,
  type ServedProgram,
  scriptError,
  encodePlan,
  type PlanEntry,
} from '@litterbox/linux-sandbox';
import {
  type CallOptions,
  decodeRaw,
  type Host,
  INSIDE,
  LitterboxError,
  meetsOwnPlaces,
  quoted,
} from '@litterbox/core/provider';
import { boundSockets } from '../machine/bound-sockets.ts';
import type { ProcEntries, SessionSources } from './bwrap-arguments.ts';
import { OVERLAYS_SCRIPT } from '../machine/foreign-overlays.ts';
import type { Machine } from '../machine/machine.ts';
import { rootEntries } from './root-entries.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import { PROCESSORS } from './supervisor-input.ts';
import { credentialsPlan, findCredentials } from '../machine/tool-directories.ts';

/** The host as it is before a session is started. */
export interface HostLook {
  readonly etc: string;
  readonly sources: SessionSources;
  readonly proc: ProcEntries;
  readonly namespaces: string;
  /** As {@link OVERLAYS_SCRIPT} prints them. */
  readonly overlays: string;
  /** Numbers of the processors that its programs get; none when it is not known what there are. */
  readonly processors: readonly number[];
}

/** A look that was begun before the session was asked for. */
export interface LookAhead {
  /** It has looked, and goes on as the link to the session. */
  readonly served: ServedProgram | undefined;
  readonly look: Promise<HostLook>;
  /** When it was begun, by `performance.now()`. */
  readonly beganAt: number;
}

/** An older look is made anew, in milliseconds: a base tree may have been unpacked for minutes meanwhile. */
export const MAX_LOOK_AGE_MS = 2_000;

/** The part of a sandbox that decides where to look. */
export interface HostLookInput {
  readonly host: Host;
  readonly machine: Machine;
  readonly layout: DirectoryLayout;
  readonly meta: SandboxMeta;
  /** Absolute path of the session program; undefined: shell text does what it does. */
  readonly program: string | undefined;
  /** The same, running already. @defaultValue it is started */
  readonly served?: ServedProgram | undefined;
}

/** Looks, by one program. Needs nothing of the sandbox's directory, so that it can be made meanwhile. */
export async function lookAtHost(
  { host, machine, layout, meta, program, served }: HostLookInput,
  options?: CallOptions,
): Promise<HostLook> {
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
  const directories = tools.map(({ target }) => target);
  const procEntries = [...MASKED_PROC_FILES, ...READ_ONLY_PROC, ...MASKED_PROC_DIRECTORIES];
  const script = `${etcDirectoryScript(layout.root, INSIDE.user)}
printf '\\0'
${HOST_NAMESPACES_SCRIPT}
printf '\\0'
for p in ${procEntries.join(' ')}; do [ -e $p ] && echo $p; done
printf '\\0'
cat ${quoted(layout.sandboxes)}/*/${PROCESSORS} 2>/dev/null
printf '\\0'
${machine.isRoot ? OVERLAYS_SCRIPT : ''}
printf '\\0'
${findCredentials(directories)}
:`;
  const plan: readonly PlanEntry[] = [
    ['etc', etcPrefix(layout.root, INSIDE.user), ...ETC_SOURCES],
    ['links', ...HOST_NAMESPACES],
    ['there', ...procEntries],
    ['texts', `${layout.sandboxes}/*/${PROCESSORS}`],
    ...(machine.isRoot ? [['overlays', '/proc/self/mountinfo'] as const] : [['links'] as const]),
    ...credentialsPlan(directories),
    ['go'],
  ];
  const look = async () => {
    if (program === undefined) return await runScriptOrFail(host, 'provider.start', script, options);
    const { code, stdout, stderr } = await (served?.run('look', plan, options) ??
      runProgram(host, [program, 'look'], encodePlan(plan), options));
    if (code !== 0) throw scriptError('provider.start', code, stdout + stderr);
    // The directory of /etc has to be made anew, which takes other programs.
    return stdout.startsWith('\0') ? await runScriptOrFail(host, 'provider.start', script, options) : stdout;
  };
  const [said, sockets, status] = await Promise.all([
    look(),
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
      masked: [...sockets.map((path) => ({ path, type: 'special' as const })), ...maskedOnes(masked, directories)],
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
