import type { ChannelCommand } from '../../channel/channel-command.ts';
import type { CommandOutcome } from '../../channel/command-outcome.ts';
import type { Assurance } from '../../domain/sandbox/assurance.ts';
import type { ChangedPath } from '../../domain/paths/changed-path.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { ByteStream } from '../common/byte-stream.ts';
import type { CallOptions } from '../common/call.ts';
import type { OpenPort } from '../common/open-port.ts';
import type { ProcessHandle, ProcessSpec } from '../common/process.ts';

/** An opaque text, chosen by the runtime and kept by core, that means "everything up to here is known". */
export type ChangeMark = string;

/** The changes of a workspace since a mark. */
export interface ChangeScan {
  /**
   * The mark to give next time once these changes are safely recorded. Anything that changes after the scan began is
   * reported again then: a change is never missed, an unchanged file may be repeated.
   */
  readonly next: ChangeMark;
  /** One pass, any order, bounded memory. */
  readonly changes: AsyncIterable<ChangedPath>;
}

/** Options of {@link SandboxRuntime.scan}. */
export interface ScanOptions extends CallOptions {
  /**
   * Runs a command in a shell that is inside already, with the environment of the sandbox's processes. A runtime whose scan asks programs
   * inside may ask them by it. @defaultValue it starts what it needs
   */
  readonly runInside?: (command: ChannelCommand, options?: CallOptions) => Promise<CommandOutcome>;
}

/** The resources that a sandbox uses now. A member that the runtime does not know is absent. */
export interface ResourceUsage {
  readonly memoryBytes?: number;
  /** Processor time used over all of the sandbox's life, by what ended too. Absent where it is not counted. */
  readonly cpuMs?: number;
  /** More was used: something ended uncounted, behind the back of the runtime. */
  readonly isCpuLeast?: true;
  readonly processes?: number;
  /** Held by the writable layers. */
  readonly diskBytes?: number;
}

/**
 * One sandbox that runs. Several processes may hold runtimes of the same sandbox; what one writes, the others see.
 *
 * After `pause`, `spawn`, `scan`, `connect` and `listen` reject with `SANDBOX_PAUSED`; after `stop`, with `SANDBOX_STOPPED`.
 * Disposing ends what this process started in the sandbox and closes connections and the ports it listens on; the sandbox itself stays.
 */
export interface SandboxRuntime extends AsyncDisposable {
  readonly id: SandboxId;
  /** Absolute path of the workspace inside. */
  readonly workdir: string;
  /** Absolute path of the playground inside. */
  readonly playground: string;
  /** The environment that processes get when `ProcessSpec.env` is absent. */
  readonly environment: Readonly<Record<string, string>>;

  /** The key, of those in `SandboxSpec.prepared`, whose kept setup the sandbox stands on. Absent when there is none. */
  readonly prepared?: string;

  /** The person's directory that the workspace stands on ({@link SandboxSpec.live}). Absent where it stands on a frozen tree. */
  readonly live?: string;

  /** The controls in force, read back from the kernel or the engine and not from the request. */
  assurance(options?: CallOptions): Promise<Assurance>;

  /**
   * Starts a program inside, as the sandbox's user. Costs what the runtime's own exec costs; the exec channel of core
   * is what makes many short commands cheap. Inside, `/etc/passwd` has a name for that user and `/etc/hosts` says that localhost is
   * 127.0.0.1, whatever the image has.
   *
   * @throws LitterboxError `NOT_FOUND` when the program or `cwd` is not there; `UNSUPPORTED` for a terminal it cannot give.
   */
  spawn(process: ProcessSpec, options?: CallOptions): Promise<ProcessHandle>;

  /**
   * What changed in the workspace since `mark`; `undefined` means since the base tree, a kept setup that it stands on included. Costs the number of changes
   * where the runtime can tell, never reads content, and never follows a path that an agent wrote.
   */
  scan(mark: ChangeMark | undefined, options?: ScanOptions): Promise<ChangeScan>;

  /** The mark that means "everything up to now is known". Looks at nothing. */
  mark(options?: CallOptions): Promise<ChangeMark>;

  /** Freezes all processes, memory kept. Idempotent. */
  pause(options?: CallOptions): Promise<void>;
  /** Undoes `pause`. Idempotent. */
  resume(options?: CallOptions): Promise<void>;
  /** Ends all processes and frees memory; the files stay. Idempotent. */
  stop(options?: CallOptions): Promise<void>;
  /** Undoes `stop`. Idempotent. */
  start(options?: CallOptions): Promise<void>;

  /**
   * One TCP connection to a program inside that listens on 127.0.0.1, ::1 or every address: the base of port forwarding, made
   * by hands that nothing inside can move elsewhere. Absent where the runtime cannot. Open connections wait during a pause.
   *
   * @param port 1 to 65535
   * @throws LitterboxError `UNAVAILABLE` when nothing listens there; `UNSUPPORTED` when this machine cannot.
   */
  connect?(port: number, options?: CallOptions): Promise<ByteStream>;

  /**
   * A port of the sandbox's own 127.0.0.1, and ::1 where it has one, that leads to this process: the only way out of a sandbox
   * without network. Nothing of it runs inside, and no program there can see who listens, end it, or take its place. Which sandbox
   * a connection comes from is known by the port it came to: another sandbox does not reach it.
   *
   * Each direction of a connection ends by itself; disposing a stream ends both. At most 64 connections are open at once, more
   * are reset; so is one for which `onConnection` throws. The port also ends with the runtime, with this process, and when the
   * sandbox stops: after `start` nothing listens until it is asked for again. During a pause it stays, and its connections wait.
   * Where what the sandbox runs in can be replaced behind this process's back, `assurance` notices, and `ended` tells.
   * Absent where the runtime cannot.
   *
   * @param port 1 to 65535
   * @throws LitterboxError `INVALID_ARGUMENT` for another number; `PORT_TAKEN` when a program inside, or `listen`, has it;
   *   `UNSUPPORTED` when this machine cannot; `UNAVAILABLE` when the sandbox ended meanwhile.
   */
  listen?(port: number, onConnection: (stream: ByteStream) => void, options?: CallOptions): Promise<OpenPort>;

  /** Starts nothing: of a sandbox that is stopped it tells processor time and disk. */
  usage(options?: CallOptions): Promise<ResourceUsage>;
}
