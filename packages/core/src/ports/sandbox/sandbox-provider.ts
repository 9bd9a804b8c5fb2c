import type { LimitName, ResourceLimits } from '../../domain/sandbox/resource-limits.ts';
import type { SandboxRoot } from '../../domain/sandbox/sandbox-root.ts';
import type { Assurance } from '../../domain/sandbox/assurance.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { CallOptions, ProgressOptions } from '../common/call.ts';
import type { DirectorySync, HostDirectory } from '../machine/directory-sync.ts';
import type { OpenedHost } from '../machine/hosts.ts';
import type { ImageStore } from './image-store.ts';
import type { SandboxRuntime } from './sandbox-runtime.ts';
import type { SetupStore } from './setup-store.ts';
import type { SnapshotProvider } from './snapshot-provider.ts';

/** Facts about a provider that a caller may plan around. They never change after construction. */
export interface ProviderTraits {
  readonly isolation: 'none' | 'process' | 'container' | 'vm';
  /** Ceilings this provider enforces. Core refuses a request for any other with `UNSUPPORTED`. */
  readonly limits: readonly LimitName[];
  /** Ceilings that it would enforce as root, which it is not. Absent: none. */
  readonly rootLimits?: readonly LimitName[];
  /** Where the workspace is when nobody chose: at the repository's own path, or at `/src`. */
  readonly workdir: 'repository-path' | '/src';
  /** Whether a root file system (`SandboxSpec.root`) of the user's choice can be a directory, an image, or neither. */
  readonly roots: readonly ('machine' | 'directory' | 'image')[];
  /** Present where a sandbox has an interface besides loopback, shut by a filter that nothing inside can change: each create tries that. */
  readonly network?: 'filtered';
  /**
   * Present where nobody can have files of the kernel masked that tell of the machine, such as its interrupts and disks: no sandbox is refused
   * because `kernel-files` is `weak`. Where settings can be written, or secrets of the kernel read, it is `absent`.
   */
  readonly kernelFiles?: 'readable';
  /**
   * Present where nothing stays behind a sandbox: each reads its base anew, and its playground goes with it, whatever
   * {@link RemoveOptions.keepPlayground} says. One with a playground of another key than its id is refused with `UNSUPPORTED`.
   */
  readonly keeps?: 'nothing';
  /** Ways of making a sandbox that it can be asked to have ({@link SandboxSpec.strategy}), `warm-pool` for `warm-pool/NAME`. Absent: none. */
  readonly strategies?: readonly string[];
  /** Present where sandboxes can begin as copies of others ({@link SandboxSpec.copyOf}). Elsewhere core refuses a fork with `UNSUPPORTED`. */
  readonly canCopy?: true;
  /** Present where files of the person's machine can come along ({@link SandboxSpec.artefacts}). Elsewhere core refuses them with `UNSUPPORTED`. */
  readonly canBring?: true;
  /**
   * Ways of making the workspace with which it can stand on a directory of the person's ({@link SandboxSpec.live}); the first is taken where
   * nobody chose one. Absent where there is none: core then refuses that with `UNSUPPORTED`.
   */
  readonly liveStrategies?: readonly string[];
  /** Present with `snapshots` only: `'shared'` means a snapshot costs O(1) space, `'copied'` O(size of the tree). */
  readonly snapshotCost?: 'shared' | 'copied';
}

/** The content a workspace starts with. */
export interface WorkspaceSource {
  /**
   * Names the content for ever: equal keys mean equal trees. Lower-case hexadecimal, safe as a path segment. An odd number of digits says
   * that nobody committed some of the files: such a tree goes with the last sandbox that stands on it.
   */
  readonly key: string;
  /**
   * The tree as an uncompressed tar stream: directories before their content, names relative without `./`,
   * types file, directory and symlink alone, modes 0644, 0755 and 0777. Called only when the provider does not have
   * the tree of that key yet; that is what makes the second `create` cheap.
   */
  open(options?: CallOptions): ReadableStream<Uint8Array>;
  /**
   * As {@link open}, of what differs from the tree of another key: files that are others there or are not there, and the directories above
   * them and above what is only there. All have the time that is given, where those of {@link open} have one that is older than any sandbox.
   *
   * @param timeSeconds since 1970
   */
  openUnlike?(key: string, timeSeconds: number, options?: CallOptions): ReadableStream<Uint8Array>;
  /** The least different tree of the other keys; undefined when none is near. */
  nearest?(keys: readonly string[], options?: CallOptions): Promise<string | undefined>;
  /**
   * As {@link open}, of what makes the tree of another key into this one when it is laid over it. What that one has and this one has not is a
   * character device without a number. Present with {@link nearest}, for keys that it gave.
   */
  openOver?(key: string, options?: CallOptions): ReadableStream<Uint8Array>;
}

/** Files of a base that must not look older than what was built from them. */
export interface NewerThanBuilt {
  /** Equal keys mean equal files and times. Lower-case hexadecimal. */
  readonly key: string;
  /**
   * The files as {@link WorkspaceSource.open} has them, with the directories above them, and with times of their own: to the nanosecond in
   * a PAX record, to the second above that for who does not read those.
   */
  open(options?: CallOptions): ReadableStream<Uint8Array>;
}

/** Files of the person's working tree that come along into a workspace: what builds left, and dependencies. */
export interface Artefacts {
  /** The working tree. */
  readonly source: HostDirectory;
  /** Brings them to another machine, only what that does not have. Absent, or where the machines lack what it needs: all is sent. */
  readonly sync?: DirectorySync;
  /** From its top, as `includedPath` has them; none lies below another. The base has nothing there and below, and nothing but directories above. */
  readonly paths: readonly string[];
  /**
   * The files of the base that may be newer than what is brought: all of a base have one time, which is older than any build, and builds
   * tell by times what is up to date.
   *
   * @param sinceSeconds the time of the oldest file that is brought, since 1970
   */
  newerThan(sinceSeconds: number, options?: CallOptions): Promise<NewerThanBuilt>;
}

/**
 * A directory of the person's that a workspace stands on. No sandbox sees `.git` and `.litterbox`, wherever they are, nor what
 * {@link SECRET_PATTERNS} tells.
 */
export interface LiveLower {
  /** Absolute real path on the provider's machine. */
  readonly directory: string;
  /** Paths, relative to the directory, that are hidden besides: what was found to hold secrets. */
  readonly hiddenPaths: readonly string[];
  /** Paths, relative to the directory, that are seen in spite of their names: what source control has already. */
  readonly shownPaths: readonly string[];
}

/** Everything a provider needs to know, already validated and complete. */
export interface SandboxSpec {
  readonly id: SandboxId;
  /** For labels and host names only: a DNS label. */
  readonly slug: string;
  /** The repository's id, for labels. */
  readonly repositoryId: string;
  readonly workspace: WorkspaceSource;
  /** Absolute path of the workspace inside; `/src` also leads there. Never `/`, never below `/proc`, `/sys`, `/dev`. */
  readonly workdir: string;
  readonly root: SandboxRoot;
  /** Added to the environment of every process, over the runtime's own. Validated names, no NUL. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: ResourceLimits;
  /** Nothing but loopback exists in the sandbox, or nothing else answers ({@link ProviderTraits.network}). Access, when granted, is a proxy on the host, never an interface. */
  readonly network: 'none';
  /** Key of the playground directory: the sandbox's id, or one shared by several. Persists until removed. */
  readonly playground: string;
  /** A person accepted missing controls for this sandbox; without it a missing one is `DEGRADED`. */
  readonly allowDegraded: boolean;
  /**
   * How to make the workspace, in the provider's own word, such as `reflink`. One that it does not know or that does not work
   * here is `UNSUPPORTED`. @defaultValue the provider's choice
   */
  readonly strategy?: string;
  /**
   * Keys of what setups left, best first: the sandbox begins with the first one that is there ({@link SandboxRuntime.prepared} tells
   * which), and as an ordinary one when none is. Lower-case hexadecimal.
   */
  readonly prepared?: readonly string[];
  /**
   * Begin with everything that another sandbox of this provider has at one moment: the files of its workspace whatever source control
   * thinks of them, home, and the playground where both have one of their own. What that one was made of, this one is made of too:
   * base, kept setup, strategy and root. `workspace` and `prepared` count for nothing then, and a `strategy`, a root or a limit of the
   * disk that is another one than there is `UNSUPPORTED`. Asked for only where {@link ProviderTraits.canCopy} says so.
   *
   * The source may run, be paused or be stopped, and is the same afterwards: its processes stand still while it is copied and go on,
   * also when the copying process is killed. The copy's processes are its own, and so is everything it writes. Its first scan without a
   * mark tells everything in which it differs from the base, as ever. Rejects with `NOT_FOUND` when there is no such
   * sandbox, with `UNSUPPORTED` when it runs and cannot be frozen.
   */
  readonly copyOf?: SandboxId;
  /**
   * Files that come along as they are: content, permissions, times, links as links, and hard links among them. Nothing of the person's is
   * changed, and no link is followed. FIFOs, sockets and devices stay behind, and so do owners and extended attributes. What is brought is
   * part of what the sandbox begins with: no scan tells of it until it changes. Contents are shared where the file system can.
   * `prepared` counts for nothing then. Asked for only where {@link ProviderTraits.canBring} says so.
   *
   * Rejects with `NOT_FOUND` for a path that is not there, `PATH_OUTSIDE_WORKDIR` for one that a link is above of, `CONFLICT` for what changes all the
   * time while it is copied, `PERMISSION_DENIED` for what this user cannot read, and `UNSUPPORTED` for what lies on a file system of its own,
   * and for another machine's where the provider cannot bring those.
   */
  readonly artefacts?: Artefacts;
  /**
   * Let the workspace stand on this directory instead of on `workspace`, whose key still names the content that it has now. Nothing is
   * copied, and nothing is ever written there: not by the sandbox, and no mode, owner or time by the provider. Links lead nowhere outside of
   * the workspace, and a socket, a FIFO or a lock in the directory is not the one that the person's programs use.
   *
   * The person goes on working in it. The kernel does not say whether a session that lives sees their changes; core notices them and
   * stops. Asked for only where {@link ProviderTraits.liveStrategies} says so. A copy ({@link copyOf}) stands where its source stands.
   */
  readonly live?: LiveLower;
  /**
   * A place to install into the image, for {@link ImageStore.keep}, which an agent never gets: its programs are root inside, with the
   * rights over files and users that package managers need and none besides, and write the system; the workspace is read-only, and
   * there is neither home nor playground. Everything else holds as ever. Only asked of providers that have `images`.
   */
  readonly isInstaller?: boolean;
}

/** Things to spare when a sandbox is removed. */
export interface RemoveOptions extends CallOptions {
  /** Leave the playground for a sandbox of the same id that follows. @defaultValue false */
  readonly keepPlayground?: boolean;
}

/** Whether a provider can be used on this machine, and why. */
export interface ProbeReport {
  readonly usable: boolean;
  /** Each check, in order, for `doctor` and `explain`. */
  readonly checks: readonly ProbeCheck[];
  /** The controls that a sandbox made now would get. Absent where only making one would show them. */
  readonly assurance?: Assurance;
}

/** One thing that a probe looked at. */
export interface ProbeCheck {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed';
  /** The finding, one sentence. */
  readonly finding: string;
  /** The command or step that mends it. Present unless ok. */
  readonly remedy?: string;
  /** For a warning: sandboxes are refused until somebody repairs it, or a person allows them to run without. */
  readonly isRefused?: boolean;
  /** For a failure: the program is not installed, and nobody named its place. */
  readonly isAbsent?: boolean;
}

/** A provider's knowledge of one sandbox that it has not opened. */
export interface RuntimeStatus {
  readonly id: SandboxId;
  /**
   * `broken`: something is left of it that `open` cannot use; `remove` can. `unreachable`: it is on an engine or a machine that this
   * provider has used and does not reach now; it is as it was, and `open` and `remove` reject with `UNAVAILABLE`.
   */
  readonly state: 'running' | 'paused' | 'stopped' | 'broken' | 'unreachable';
}

/**
 * Sandbox port: one way to get an isolated place to run commands in.
 *
 * Implementations hold no registry of their own: {@link SandboxProvider.list} must find what an earlier process made,
 * so identity lives in the runtime (labels, dataset names, directories). Several processes use one provider's
 * sandboxes at the same time, and any of them may be killed at any moment.
 *
 * Core validates and normalises every argument before the call, so an implementation may trust its input.
 * It reports failure only with `LitterboxError`. What it cannot honour it refuses with `UNSUPPORTED`; a security
 * control that is missing is `DEGRADED`, never a silent downgrade. Constructing a provider does no I/O.
 */
export interface SandboxProvider extends AsyncDisposable {
  /** Its key: stable, unique in one Litterbox instance; used in records and error details. See `provider-key.ts` for what it may be. */
  readonly name: ProviderKey;
  readonly traits: ProviderTraits;
  /** The machine that it is for, where it came with one of its own: other providers can be made there too, and it can be asked for room. */
  readonly machine?: OpenedHost;

  /** Looks at the machine and changes nothing that lasts. Never rejects because something is missing. */
  probe(options?: CallOptions): Promise<ProbeReport>;

  /**
   * Creates a sandbox and waits until it accepts {@link SandboxRuntime.spawn}.
   * Leaves nothing behind if it rejects, including when aborted half way. Idempotent by id only through `remove`.
   *
   * @throws LitterboxError `ALREADY_EXISTS` when `spec.id` is taken; `UNAVAILABLE` when the runtime cannot be reached;
   *   `UNSUPPORTED` for what it cannot honour; `DEGRADED` when a control is missing and `allowDegraded` is false.
   */
  create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime>;

  /**
   * Attaches to a sandbox that exists, made by whichever process. Cheap: what costs time is put off to the first spawn.
   *
   * @throws LitterboxError `NOT_FOUND` when there is none of that id; `SANDBOX_BROKEN` when it cannot be used any more.
   */
  open(id: SandboxId, options?: CallOptions): Promise<SandboxRuntime>;

  /** Yields in no particular order; may yield one that is being removed. */
  list(options?: CallOptions): AsyncIterable<RuntimeStatus>;

  /** Ends every process of the sandbox and frees all it used. Idempotent: removing an absent sandbox resolves. */
  remove(id: SandboxId, options?: RemoveOptions): Promise<void>;

  /** Present if and only if sandboxes can begin with what the setup of another one left. Presence is the capability. */
  readonly setups?: SetupStore;

  /** Present if and only if something can be installed into the images of sandboxes. Presence is the capability. */
  readonly images?: ImageStore;

  /** Present if and only if the provider can snapshot workspaces. Presence is the capability. */
  readonly snapshots?: SnapshotProvider;
}
