import {
  type SandboxId,
  type CallOptions,
  type Host,
  type LimitName,
  type ProbeCheck,
  type ProviderTraits,
  type ResourceLimits,
} from '@litterbox/core/provider';

/** What a sandbox of `placeProvider` may use, every ceiling decided. */
export type PlaceLimits = Required<Pick<ResourceLimits, 'memoryBytes' | 'cpus' | 'processes' | 'openFiles'>>;

/** One place to be made: all of it decided, and everything it needs on the host is there. */
export interface Place {
  readonly id: SandboxId;
  /** Absolute path on the host of the sandbox's own directory; names that begin with `own` are free for the provider. */
  readonly directory: string;
  /** Absolute path on the host of the root directory: links and empty places for all mounts. To be shown read-only. */
  readonly root: string;
  /** Binds, in order, over everything else: a workspace may lie in a temporary directory. Absolute paths of the host, and of the sandbox. */
  readonly binds: readonly { readonly source: string; readonly target: string; readonly isReadOnly: boolean }[];
  /** Temporary file systems in memory, writable for everybody inside; made before the binds. */
  readonly temporary: readonly { readonly target: string; readonly sizeBytes: number }[];
  /** The first process. It ends when it is killed and not before. */
  readonly argv: readonly [string, ...string[]];
  /** Its whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path inside in which it starts. */
  readonly workdir: string;
  readonly limits: PlaceLimits;
  /** Numbers of the processors that its programs are to run on, as many whole ones as `limits.cpus` needs; none when they are not known. */
  readonly processors: readonly number[];
}

/**
 * What is a provider's own: how an isolated place on a Linux machine is started, frozen and ended. `placeProvider` makes a
 * `SandboxProvider` of it.
 *
 * Texts are for a POSIX shell that runs on the host as the host's user, in the sandbox's directory. What a place must be like:
 *
 * - namespaces of its own for processes, mounts, network, IPC, host name and control groups; its first process is process 1 there or below it
 * - no network interface but loopback; no capability; no new privileges; a filter of system calls
 * - no descriptor of the host, in process 1 neither, and a program of process 1 that is in a mount of the place
 * - control groups for memory, processors and processes whose paths end with the sandbox's id
 * - ports below 1024 that its user may listen on; root's rights over the network are enough, for then that is done for every place
 * - `/proc` of its own with the masks of `MASKED_PROC_FILES` and its like, `/dev` with the harmless devices, no `/sys`
 *
 * All of that is read back from the kernel at every start. What is missing is `DEGRADED`, and the place is ended.
 */
export interface Isolation {
  /** The provider's name: stable, lower-case, unique in one Litterbox instance. */
  readonly name: string;
  readonly isolation: ProviderTraits['isolation'];
  /** Ceilings it enforces. Memory and processes must be among them; what is not is refused. */
  readonly limits: readonly Extract<LimitName, keyof PlaceLimits>[];
  /** Whether places have a user namespace, in which no user but their own exists. */
  readonly hasOwnUsers: boolean;
  /** Who programs inside are on the host: nobody whom the machine knows. Owns workspace, home and playground. */
  readonly user: { readonly uid: number; readonly gid: number };
  /** Looks for what it needs and changes nothing. One failed check makes it unusable; findings are for people. */
  checks(host: Host, options?: CallOptions): Promise<readonly ProbeCheck[]>;
  /** How it is made, for people: `runc 1.1.5`. Asked once, after the checks. */
  mechanism(host: Host, options?: CallOptions): Promise<string>;
  /**
   * Shell text that starts the first process and stays until it has ended. It has a shell of its own, whose number is `$$`: what enters
   * control groups by that number is this shell and what it starts. What it prints to stderr is told when the start fails.
   */
  start(place: Place): string;
  /** Shell text that freezes all processes and waits until they are, or thaws them. Succeeds where nothing runs, and the second time. */
  freeze(place: Pick<Place, 'id' | 'directory'>, isFrozen: boolean): string;
  /** Shell text that ends and removes what is left of a place, frozen or not, whoever was killed while starting it. Succeeds where nothing is left, and only then. */
  clean(place: Pick<Place, 'id' | 'directory'>): string;
}
