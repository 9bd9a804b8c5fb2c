import { type NetworkNamespace } from '@litterbox/core/provider';
import { type Mount, mountsOf } from './mounts-of.ts';

/** What the kernel said about a sandbox's first process when its session started. */
export interface KernelFacts {
  /** `/proc/<pid>/status`, by field. */
  readonly status: Readonly<Record<string, string>>;
  /** `/proc/<pid>/uid_map`: inside, outside on the host, count. */
  readonly uidMap: readonly number[];
  /** `/proc/<pid>/limits`, soft values by name. */
  readonly limits: Readonly<Record<string, string>>;
  readonly cgroup: string;
  /** Directories of overlays are in the names of the supervisor. */
  readonly mounts: readonly Mount[];
  /** The file system that the supervisor mounted for what the sandbox writes, and how much it holds. */
  readonly disk?: { readonly point: string; readonly device: string; readonly sizeBytes: number };
  /** Each kind, whether it differs from the host's. */
  readonly separateNamespaces: Readonly<Record<string, boolean>>;
  /** Descriptors open in process 1 and in the first process. */
  readonly descriptors: readonly number[];
  /** What every process inside may reach by way of /proc: descriptors of these two and the program of process 1, each with the mount that it is in. */
  readonly doors: readonly { readonly what: string; readonly mount: number }[];
  /** Names of the variables in the environment of the namespace's process 1, which every process inside can read. */
  readonly visibleEnvironment: readonly string[];
}

/** In the order in which the supervisor and {@link HOST_NAMESPACES_SCRIPT} print them. */
const NAMESPACES = ['user', 'pid', 'net', 'ipc', 'uts', 'cgroup', 'mnt'];

/** What the program of process 1 is called among the doors. */
export const PROGRAM = 'the program of process 1';

/**
 * Shell text: prints what {@link parseFacts} reads of the files of /proc.
 *
 * @param one shell text of the number of process 1, in the numbers of /proc
 * @param first shell text of that of the first process
 */
export const factFilesScript = (one: string, first: string): string =>
  `head -v -c 262144 /proc/${first}/status /proc/${first}/limits /proc/${first}/cgroup /proc/${first}/mountinfo /proc/${one}/fdinfo/[0-9]* /proc/${first}/fdinfo/[0-9]* /proc/self/fdinfo/5 5</proc/${one}/exe`;

/**
 * Shell text: prints the user map of a process, as {@link parseFacts} reads it.
 *
 * @param first shell text of the number of the first process, in the numbers of /proc
 * @param hasOwnUsers whether who prints it has a user namespace of its own: what it reads is in numbers of that one then
 */
export const uidMapScript = (first: string, hasOwnUsers: boolean): string =>
  `printf 'users\\0'; cat /proc/${first}/uid_map; printf '\\0'${hasOwnUsers ? `; printf 'own-users\\0'; cat /proc/self/uid_map; printf '\\0'` : ''}`;

/** Links of the kernel's that name the namespaces of whoever reads them. */
export const HOST_NAMESPACES: readonly string[] = NAMESPACES.map((name) => `/proc/self/ns/${name}`);

/** Shell text that prints the host's own namespaces. */
export const HOST_NAMESPACES_SCRIPT = `readlink ${HOST_NAMESPACES.join(' ')}`;

/** The process number of the sandbox's first process on the host. */
export function firstProcess(words: readonly string[]): number {
  return Number(words[words.indexOf('pid') + 1]);
}

/** Where the sandbox's network is found from outside, while the session lives. */
export function networkOf(words: readonly string[], isRoot: boolean): NetworkNamespace {
  const links = (words[words.indexOf('namespaces') + 1] ?? '').trim().split('\n');
  const supervisor = Number(words[words.indexOf('supervisor') + 1]);
  return {
    path: `/proc/${firstProcess(words)}/ns/net`,
    identity: links[NAMESPACES.indexOf('net')] ?? '',
    // An ordinary user may enter it from the user namespace in which the supervisor made it.
    ...(!isRoot && { userNamespace: `/proc/${supervisor}/ns/user` }),
  };
}

/**
 * @param words what the supervisor printed after `facts`, split at NUL
 * @param hostNamespaces what {@link HOST_NAMESPACES_SCRIPT} printed
 */
export function parseFacts(words: readonly string[], hostNamespaces: string): KernelFacts {
  const after = (key: string) => words[words.indexOf(key) + 1] ?? '';
  const parts = after('files')
    .split(/^==> \/proc\/(?=(?:\d+|self)\/)/m)
    .slice(1)
    .map((part) => {
      const [head = '', ...rest] = part.split('\n');
      return [head.replace(/ <==$/, ''), rest.join('\n').trim()] as const;
    });
  const files = new Map(parts.map(([path, text]) => [path.slice(path.indexOf('/') + 1), text] as const));
  const links = after('namespaces').trim().split('\n');
  const hostLinks = hostNamespaces.trim().split('\n');
  const limits = (files.get('limits') ?? '')
    .split('\n')
    .slice(1)
    .map((line) => /^(.+?)\s{2,}(\S+)/.exec(line));
  return {
    status: Object.fromEntries(
      (files.get('status') ?? '')
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    ),
    uidMap: uidMapOf(words),
    limits: Object.fromEntries(limits.flatMap((match) => (match ? [[match[1] ?? '', match[2] ?? '']] : []))),
    cgroup: files.get('cgroup') ?? '',
    mounts: mountsOf(files.get('mountinfo') ?? ''),
    doors: parts.flatMap(([path, text]) => doorOf(path, text)),
    ...diskFacts(words),
    separateNamespaces: Object.fromEntries(
      NAMESPACES.map((name, index) => [
        name,
        links[index] !== undefined && hostLinks[index] !== undefined && links[index] !== hostLinks[index],
      ]),
    ),
    descriptors: after('descriptors')
      .split(' ')
      .flatMap((path) => /\/(\d+)$/.exec(path)?.[1] ?? [])
      .map(Number),
    visibleEnvironment: after('environment')
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => line.slice(0, line.indexOf('='))),
  };
}

/** The first process's users with their numbers outside: those of the supervisor's own users are numbers inside of its map. */
function uidMapOf(words: readonly string[]): readonly number[] {
  const after = (key: string) => (words.includes(key) ? (words[words.indexOf(key) + 1] ?? '').trim() : undefined);
  const numbers = (text: string) => text.split(/\s+/).map(Number);
  const map = numbers(after('users') ?? '');
  const own = after('own-users')?.split('\n').map(numbers);
  if (!own) return map;
  const [inside = Number.NaN, between = Number.NaN, ...rest] = map;
  const [first = 0, outer = Number.NaN] =
    own.find(([from = 0, , count = 0]) => between >= from && between < from + count) ?? [];
  return [inside, outer + between - first, ...rest];
}

/** @param path below /proc: `self/fdinfo/5` is the program of process 1, which whoever printed it had open */
function doorOf(path: string, text: string): KernelFacts['doors'] {
  const descriptor = /^(?:\d+|self)\/fdinfo\/(\d+)$/.exec(path)?.[1];
  // Closed while it was looked at, as a shell does behind a redirection: it leads nowhere. Of the program, nothing is no answer.
  if (descriptor === undefined || (text === '' && !path.startsWith('self/'))) return [];
  const what = path.startsWith('self/') ? PROGRAM : `descriptor ${descriptor}`;
  return [{ what, mount: Number(/^mnt_id:\s*(\d+)$/m.exec(text)?.[1]) }];
}

/** A line of mountinfo, then the number of blocks and their size as `stat -f` gives them. */
function diskFacts(words: readonly string[]): Pick<KernelFacts, 'disk'> {
  const index = words.indexOf('disk');
  if (index === -1) return {};
  const [line = '', size = ''] = (words[index + 1] ?? '').split('\n');
  const [mount] = mountsOf(line);
  const [blocks, blockBytes] = size.split(' ').map(Number);
  return {
    disk: { point: mount?.point ?? '', device: mount?.device ?? '', sizeBytes: (blocks ?? 0) * (blockBytes ?? 0) },
  };
}
