import type { FileType } from '../../domain/paths/file-type.ts';
import type { ByteStream } from '../common/byte-stream.ts';
import type { CallOptions } from '../common/call.ts';
import type { OpenPort } from '../common/open-port.ts';
import type { OutputSource } from '../common/output-source.ts';
import type { ProcessHandle, ProcessSpec } from '../common/process.ts';

/** Facts of a host that never change while it runs. */
export interface HostFacts {
  /** `linux` on every host a provider can use; anything else is refused by the provider that needs Linux. */
  readonly platform: string;
  /** As `uname -m` says: `x86_64`, `aarch64`. */
  readonly architecture: string;
  /** As `uname -r` says. */
  readonly kernelRelease: string;
  /** Numeric user and group that programs run as there. */
  readonly uid: number;
  readonly gid: number;
  /** Absolute path. */
  readonly homeDirectory: string;
  /** The login environment's PATH, one absolute directory each, in order: what tools a sandbox may see. Nothing is started from there. */
  readonly searchPath: readonly string[];
  /** The top of the person's repository on that host, with no links in it: nothing below it is shown as a tool. Absent where none is known. */
  readonly repositoryTop?: string;
  /** Content of `/proc/sys/kernel/random/boot_id`: differs after every boot. */
  readonly bootId: string;
}

/** The metadata of one path on a host. */
export interface FileStat {
  readonly type: FileType;
  readonly sizeBytes: number;
  /** The permission bits, 0 to 0o7777. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Files on the host that belong to Litterbox or to the machine, never paths that an agent can write to.
 * All paths are absolute. No method follows a symbolic link in the last component, except `read`.
 */
export interface HostFiles {
  /** `undefined` when there is no such file. @throws LitterboxError `RESOURCE_EXHAUSTED` beyond `maxBytes` (default 16 MiB). */
  read(path: string, options?: CallOptions & { readonly maxBytes?: number }): Promise<Uint8Array | undefined>;
  /** Replaces the file atomically (a temporary file beside it, then rename). @throws LitterboxError `NOT_FOUND` without parent. */
  write(path: string, bytes: Uint8Array, options?: CallOptions & { readonly mode?: number }): Promise<void>;
  /** Makes the directory and its parents; an existing directory is fine and keeps its mode. */
  makeDirectory(path: string, options?: CallOptions & { readonly mode?: number }): Promise<void>;
  /** Names and types, in no order. `undefined` when there is no such directory. */
  list(
    path: string,
    options?: CallOptions,
  ): Promise<readonly { readonly name: string; readonly type: FileType }[] | undefined>;
  /** `undefined` when there is nothing. Never follows a link. */
  stat(path: string, options?: CallOptions): Promise<FileStat | undefined>;
  /** Fails when `target` is a directory that is not empty. */
  rename(source: string, target: string, options?: CallOptions): Promise<void>;
  /** Removes a file or a whole tree without following links; absent is fine. */
  remove(path: string, options?: CallOptions): Promise<void>;
}

/** The writing end of a named pipe. Bytes that nobody reads any more are dropped. */
export interface PipeWriter {
  /** Resolves when the kernel has the bytes, or drops them. */
  write(bytes: Uint8Array): Promise<void>;
  /** Lets go of the pipe when all is written. */
  end(): void;
  /** Lets go of it at once. */
  destroy(): void;
}

/**
 * Named pipes of a machine that this process can open itself, without a program that passes their bytes on. Paths are absolute, no link is followed,
 * and no method waits for who has the other end.
 */
export interface HostPipes {
  /** The bytes that are written into it from now on; it closes when its last writer has gone. Having none yet is not having gone. */
  read(path: string): Promise<OutputSource & { destroy(): unknown }>;
  /** `undefined` while nobody reads it. */
  write(path: string): Promise<PipeWriter | undefined>;
  /** Lets go of everybody who waits for another end, and ends it for readers where no writer is left. */
  release(path: string): Promise<void>;
}

/** Where a socket listens: a Unix socket's absolute path, or a TCP port of a name or address. */
export type SocketAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** A network namespace of a machine, in which nothing but loopback is of interest. */
export interface NetworkNamespace {
  /** Absolute path of the namespace, such as `/proc/123/ns/net`. */
  readonly path: string;
  /** The answer of `readlink`, such as `net:[4026532000]`: the host enters just this namespace, whoever has the number by now. */
  readonly identity: string;
  /** A user namespace in which the host's user may enter it. Absent when the user may do so by itself. */
  readonly userNamespace?: string;
}

/**
 * The loopback of a network namespace, as seen from outside. Disposing ends what was started for it, and what listens with its
 * connections; those that `connect` opened stay.
 */
export interface NamespaceLoopback extends AsyncDisposable {
  /**
   * Opens a TCP connection to 127.0.0.1 there, or else to ::1. No other address can be reached by it.
   *
   * @param port 1 to 65535
   * @throws LitterboxError `UNAVAILABLE` when nothing listens there, or the namespace is gone.
   */
  connect(port: number, options?: CallOptions): Promise<ByteStream>;
  /**
   * Listens on 127.0.0.1 there, and on ::1 where there is one, and gives every connection to `onConnection`: at most 64 at once,
   * more are reset. What listens is held outside: no program there sees it or can end it, and it is gone with this process.
   * It ends with the loopback, or when it is disposed.
   *
   * @param port 1 to 65535
   * @throws LitterboxError `PORT_TAKEN` when a program there listens on one of the two; `UNSUPPORTED` when this user may not
   *   listen on that number; `UNAVAILABLE` when the namespace is gone.
   */
  listen(port: number, onConnection: (stream: ByteStream) => void, options?: CallOptions): Promise<OpenPort>;
}

/**
 * A Linux machine that can run programs and hold files: this one, or one reached over SSH.
 * Everything of Litterbox that touches a machine goes through it; a provider that takes a Host never calls
 * `child_process` or `fs` itself, so the same provider works on a remote machine.
 *
 * Errors are `LitterboxError`: `UNAVAILABLE` when the machine cannot be reached, `NOT_FOUND`, `PERMISSION_DENIED`,
 * `DISK_FULL`, else `INTERNAL`; a program that is not there is `TOOL_MISSING` from `spawn`.
 */
export interface Host extends AsyncDisposable {
  /** `local`, or the destination. Stable; used in error details. */
  readonly name: string;
  /** The environment of the login there, by which tools of that machine are found. Empty where it is not known. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Asked once and kept. */
  facts(options?: CallOptions): Promise<HostFacts>;
  /**
   * Starts a program. `env` is its whole environment (default: PATH, HOME and LANG alone, and this PATH names
   * directories that neither a repository nor its tools can choose);
   * no descriptor but stdin, stdout and stderr is open in it. The process leads its own process group.
   */
  spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle>;
  readonly files: HostFiles;
  /** Absent where pipes of that machine take programs on it. */
  readonly pipes?: HostPipes;
  /** A socket on that machine. @throws LitterboxError `UNAVAILABLE` when nothing listens. */
  connect(address: SocketAddress, options?: CallOptions): Promise<ByteStream>;
  /** Makes ready to connect to programs in a namespace. Absent where the machine cannot. Does nothing that lasts until the first connection. */
  loopback?(namespace: NetworkNamespace): NamespaceLoopback;
}
