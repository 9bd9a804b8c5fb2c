import type { ByteStream, CallOptions, ProcessHandle, SocketAddress } from '@litterbox/core/provider';

/**
 * A way to a machine: SSH, `wsl.exe`, or a shell of this machine in tests. It is used by {@link FarHost} alone, which asks nothing of it but
 * shells. Disposing it closes everything that it opened.
 */
export interface ShellTransport extends AsyncDisposable {
  /**
   * Has the login shell there run a command line, with pipes for stdin, stdout and stderr. When the way is gone its output ends, and its
   * `exit` rejects with `UNAVAILABLE`; signals do not go this way.
   *
   * @throws LitterboxError `UNAVAILABLE` when the machine cannot be reached, or starts nothing more.
   */
  start(commandLine: string, options?: CallOptions): Promise<ProcessHandle>;
  /** As `Host.connect`. Absent where the way leads to shells alone. */
  connect?(address: SocketAddress, options?: CallOptions): Promise<ByteStream>;
  /** Resolves, and never rejects, when the way is gone: with why, in words for a person. */
  readonly ended: Promise<string>;
}
