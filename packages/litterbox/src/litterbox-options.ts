import type {
  Approver,
  AuditLog,
  Clock,
  DirectorySync,
  Heap,
  Host,
  HostGauge,
  SecretSource,
  Hosts,
  Keepers,
  NetworkGate,
  EndpointGate,
  OpenedHost,
  PortForwarder,
  SandboxId,
  SourceControl,
  StateStore,
} from '@litterbox/core/agent';
import type { ProviderSource } from './open-providers.ts';

/** What an instance is made of. Every part that is left out is the one that comes along. */
export interface LitterboxOptions {
  /**
   * A directory in the user's repository; `false` for none: sandboxes then begin with `files`, and nothing can be applied or merged.
   * @defaultValue the current directory
   */
  readonly repo?: string | false;
  /**
   * Ways to make sandboxes, in order of preference: factories (`[overlayfs]`), what a factory returned, or what loads a factory when it
   * is asked for. Order is the only registry, and no two may have one name.
   */
  readonly providers: readonly [ProviderSource, ...ProviderSource[]];
  /** Absolute directory for records, stores and sandboxes. @defaultValue LITTERBOX_HOME, else litterbox in the XDG state directory */
  readonly stateDirectory?: string;
  /** Who calls, for the audit log. @defaultValue 'library' */
  readonly actor?: string;
  /** Answers when files that run code on this machine are to be merged. @defaultValue nobody: refused with `RISKY_CHANGES` */
  readonly approver?: Approver;
  /** Where `LITTERBOX_*` keys are looked up. @defaultValue none: a library does what its options say */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Starts a program that keeps a sandbox with services or ports and outlives this one; resolves when that answers.
   * @defaultValue none: this program keeps them, until it is disposed
   */
  readonly launchKeeper?: (id: SandboxId, variables: readonly string[]) => Promise<void>;
  /**
   * Makes the list of machines that sandboxes can be made on, given this one and the state directory.
   * @defaultValue this machine alone
   */
  readonly openHosts?: (here: OpenedHost) => Hosts;
  /** Parts of one's own in place of the ones that come along. */
  readonly parts?: Partial<LitterboxParts>;
}

/** What a Litterbox is made of besides providers. */
export interface LitterboxParts {
  /** The machine that this program and its person are at. */
  readonly host: Host;
  /** The machines that sandboxes can be made on. */
  readonly hosts: Hosts;
  /** Asks them for room, where a sandbox may be made on several. */
  readonly hostGauge: HostGauge;
  /** The person's repositories. */
  readonly sourceControl: SourceControl;
  /** Records, leases, journal and events. */
  readonly state: StateStore;
  /** The log of calls. */
  readonly audit: AuditLog;
  /** The time. */
  readonly clock: Clock;
  /** Keeps the memory of this program small while it records. */
  readonly heap: Heap;
  /** Brings ports of sandboxes to this machine. */
  readonly forwarder: PortForwarder;
  /** Programs that keep services and ports. */
  readonly keepers: Keepers;
  /** Lets sandboxes reach the hosts that are allowed. */
  readonly networkGate: NetworkGate;
  /** Carries requests to the servers on which secrets are set. */
  readonly endpointGate: EndpointGate;
  /** Brings files of the person's working tree to other machines. */
  readonly directorySync: DirectorySync;
  /** Reads the person's secrets where they are kept. */
  readonly secretSource: SecretSource;
}
