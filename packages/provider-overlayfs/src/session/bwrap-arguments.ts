import { encodeRaw, INSIDE, printfFormat } from '@litterbox/core/provider';
import { TEMPORARY_DIRECTORIES, temporaryBytes } from '@litterbox/sandbox-kit';
import { shownGroups } from '../machine/cgroup.ts';
import { FROZEN } from '../layers/fresh-upper.ts';
import type { Machine } from '../machine/machine.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import { EMPTY_CONTENTS } from '../machine/tool-directories.ts';

/** What a session's mount namespace offers below /run for bubblewrap to bind. */
export interface SessionSources {
  /** Tool directories: where they are in the mount namespace, and where they appear inside. */
  readonly tools: readonly { readonly source: string; readonly target: string }[];
  /** Paths inside what is shown of the machine that must look empty; what is neither file nor directory cannot be opened. */
  readonly masked: readonly { readonly path: string; readonly type: 'file' | 'directory' | 'special' }[];
  /** Entries of the root file system of the user's choice. */
  readonly rootEntries: readonly { readonly name: string; readonly type: 'bind' | 'link'; readonly target?: string }[];
}

/** Mandatory for the sandbox and for the change scanner alike: no `-try` form anywhere. */
const ISOLATION = [
  '--unshare-user',
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-uts',
  '--unshare-cgroup',
  '--disable-userns',
  '--assert-userns-disabled',
  '--uid',
  `${INSIDE.user.uid}`,
  '--gid',
  `${INSIDE.user.gid}`,
  '--hostname',
  'sandbox',
  '--new-session',
  '--die-with-parent',
  // Nothing of bubblewrap stays inside: its own process 1 would hold what it was started with, open for whoever traces it.
  '--as-pid-1',
  '--clearenv',
  '--cap-drop',
  'ALL',
] as const;

export interface ProcEntries {
  readonly files: readonly string[];
  readonly directories: readonly string[];
  readonly readOnly: readonly string[];
}

function procArguments(proc: ProcEntries): string[] {
  return [
    '--proc',
    '/proc',
    ...proc.readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...proc.files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...proc.directories.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
  ];
}

/** The machine's programs, read-only, in the places where they are on the machine. */
function programArguments(machine: Machine): string[] {
  return [
    '--ro-bind',
    '/usr',
    '/usr',
    ...machine.rootLinks.flatMap(([name, target]) => ['--symlink', target, `/${name}`]),
    ...machine.rootDirectories.flatMap((name) => ['--ro-bind', `/${name}`, `/${name}`]),
  ];
}

/** A file of a session that nobody may open. */
export const CLOSED = '/run/closed';

/** Where a session has the files that are read in place of others. */
export const MASKS = '/run/masks';

/** A device would be refused to whoever opens it, and tools die of that. */
function maskOf(path: string, type: 'file' | 'special'): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return type === 'special' ? '/dev/null' : `${MASKS}/${Object.hasOwn(EMPTY_CONTENTS, name) ? name : 'empty'}`;
}

/** The descriptor that it reads more arguments from: those that {@link environmentArguments} gives. */
export const ARGUMENTS = 4;

/** What sets the environment, as a format for `printf`, on one line. */
export function environmentArguments(environment: Readonly<Record<string, string>>): string {
  const words = Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]);
  return printfFormat(encodeRaw(words.map((word) => `${word}\0`).join(''))).replaceAll('\n', '\\012');
}

/**
 * Arguments for the sandbox itself, up to the command. It reads others from {@link ARGUMENTS}.
 *
 * @param first a program of the session, and where the sandbox has it
 */
export function sandboxArguments(
  machine: Machine,
  meta: SandboxMeta,
  sources: SessionSources,
  proc: ProcEntries,
  first?: readonly [source: string, target: string],
): readonly string[] {
  const { tools, masked, rootEntries } = sources;
  const base =
    meta.root.type === 'machine'
      ? [...programArguments(machine), '--ro-bind', '/run/etc', '/etc']
      : rootEntries.flatMap(({ name, type, target }) =>
          type === 'link' ? ['--symlink', target ?? '', `/${name}`] : ['--ro-bind', `/run/root/${name}`, `/${name}`],
        );
  return [
    ...ISOLATION,
    // Its environment: what is in arguments every user of the machine can read.
    '--args',
    `${ARGUMENTS}`,
    ...base,
    ...procArguments(proc),
    // It was started with no other environment than all others have. Who looks for secrets looks there first.
    '--ro-bind',
    CLOSED,
    '/proc/1/environ',
    // Its own control groups: what programs may use they look up there.
    ...(machine.cgroup ? shownGroups(machine.cgroup, meta.id) : []).flatMap(({ source, target }) => [
      '--ro-bind',
      source,
      target,
    ]),
    '--dev',
    '/dev',
    ...TEMPORARY_DIRECTORIES.flatMap((directory) => [
      '--perms',
      '1777',
      '--size',
      `${temporaryBytes(meta.limits.memoryBytes)}`,
      '--tmpfs',
      directory,
    ]),
    // What is mounted in it stays as it is: the devices, /dev/pts and /dev/shm.
    '--remount-ro',
    '/dev',
    '--size',
    `${16 * 2 ** 20}`,
    '--tmpfs',
    '/run',
    '--ro-bind',
    '/run/io',
    INSIDE.io,
    ...(first ? ['--ro-bind', ...first] : []),
    '--bind',
    '/run/home',
    INSIDE.home,
    '--bind',
    '/run/playground',
    INSIDE.playground,
    // After every tmpfs: a tool directory or a repository may lie below /tmp or /var/tmp.
    ...tools.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...masked.flatMap(({ path, type }) =>
      type === 'directory' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', maskOf(path, type), path],
    ),
    '--bind',
    '/run/ws',
    meta.workdir,
    ...(meta.workdir === INSIDE.alias || meta.workdir.startsWith(`${INSIDE.alias}/`)
      ? []
      : ['--symlink', meta.workdir, INSIDE.alias]),
    '--chdir',
    meta.workdir,
    '--remount-ro',
    '/',
  ];
}

/** The trees that the change scanner looks at, each with its name in there. */
export function scannedTrees(
  changes: 'upper' | 'workspace',
  hasSetup: boolean,
): readonly (readonly [source: string, name: string])[] {
  if (changes === 'workspace') return [['/run/ws', 'workspace']];
  return [
    ['/run/ws', 'workspace'],
    ['/run/upper', 'changes'],
    [`/run/${FROZEN}`, FROZEN],
    ...(hasSetup ? [['/run/setup/upper', 'prepared'] as const] : []),
  ];
}

/** Arguments for the change scanner: it lists names and types, sees the workspace and the programs alone, and writes nowhere. */
export function scannerArguments(
  machine: Machine,
  changes: 'upper' | 'workspace',
  hasSetup: boolean,
  proc: ProcEntries,
): readonly string[] {
  return [
    ...ISOLATION,
    '--setenv',
    'PATH',
    '/usr/bin:/bin',
    '--setenv',
    'LC_ALL',
    'C',
    '--setenv',
    'LITTERBOX_CALL',
    'infrastructure',
    ...programArguments(machine),
    '--ro-bind',
    '/run/etc',
    '/etc',
    ...procArguments(proc),
    '--dev',
    '/dev',
    '--remount-ro',
    '/dev',
    '--ro-bind',
    '/run/scan-io',
    INSIDE.io,
    ...scannedTrees(changes, hasSetup).flatMap(([source, name]) => ['--ro-bind', source, `/${name}`]),
    '--chdir',
    '/',
    '--remount-ro',
    '/',
  ];
}
