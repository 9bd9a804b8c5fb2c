import { Duplex } from 'node:stream';
import {
  type ByteStream,
  type CallOptions,
  LitterboxError,
  type ProcessHandle,
  type SocketAddress,
  visibleName,
} from '@litterbox/core/provider';
import type { ShellTransport } from '@litterbox/far-host';
import type { SshLink } from './ssh-link.ts';
import { SshProcess } from './ssh-process.ts';

/** OpenSSH lets ten sessions share a connection (`MaxSessions`). */
const MAX_SESSIONS = 8;

interface Share {
  readonly link: SshLink;
  sessions: number;
  /** How many the server lets this connection have. */
  limit: number;
}

/** Sessions on as few connections as the server lets them share. When one of the connections is lost, all are closed. */
export class SshTransport implements ShellTransport {
  readonly ended: Promise<string>;
  readonly #open: () => Promise<SshLink>;
  readonly #shares: Share[] = [];
  readonly #name: string;
  #opening: Promise<unknown> | undefined;
  #isGone = false;
  #end: (reason: string) => void = () => {};

  /** @param open logs in once more */
  constructor(name: string, first: SshLink, open: () => Promise<SshLink>) {
    this.#name = name;
    this.#open = open;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#add(first);
  }

  async start(commandLine: string, options?: CallOptions): Promise<ProcessHandle> {
    for (;;) {
      options?.signal?.throwIfAborted();
      const share = await this.#free();
      share.sessions += 1;
      try {
        return new SshProcess(await share.link.exec(commandLine), () => {
          share.sessions -= 1;
        });
      } catch (error) {
        share.sessions -= 1;
        this.#assertThere();
        if (share.sessions < 1 || share.limit <= share.sessions) throw this.#refused(error);
        share.limit = share.sessions;
      }
    }
  }

  async connect(address: SocketAddress, options?: CallOptions): Promise<ByteStream> {
    options?.signal?.throwIfAborted();
    this.#assertThere();
    const [{ link }] = this.#shares as [Share];
    try {
      const channel =
        'path' in address ? await link.forwardPath(address.path) : await link.forward(address.host, address.port);
      return streamOf(channel);
    } catch (error) {
      const place = 'path' in address ? address.path : `${address.host}:${address.port}`;
      throw new LitterboxError(
        'UNAVAILABLE',
        `Nothing answers at ${place} on ${this.#name}: ${saidBy(error)}.`,
        {
          operation: 'host.connect',
          hint: 'Check whether something listens there, and whether the SSH server allows forwarding (AllowTcpForwarding, AllowStreamLocalForwarding).',
        },
        { cause: error },
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close('it was closed');
  }

  /** A connection with room for one more session; another login where there is none. */
  async #free(): Promise<Share> {
    for (;;) {
      this.#assertThere();
      const share = this.#shares.find(({ sessions, limit }) => sessions < limit);
      if (share) return share;
      this.#opening ??= this.#open()
        .then((link) => this.#add(link))
        .finally(() => {
          this.#opening = undefined;
        });
      await this.#opening;
    }
  }

  #add(link: SshLink): void {
    if (this.#isGone) return void link[Symbol.asyncDispose]();
    this.#shares.push({ link, sessions: 0, limit: MAX_SESSIONS });
    void link.ended.then((reason) => this.#close(reason));
  }

  async #close(reason: string): Promise<void> {
    this.#isGone = true;
    this.#end(reason);
    await Promise.all(this.#shares.map(({ link }) => link[Symbol.asyncDispose]()));
  }

  #assertThere(): void {
    if (!this.#isGone) return;
    throw new LitterboxError('UNAVAILABLE', `The connection to ${this.#name} is closed.`, {
      operation: 'host.connect',
      hint: 'Try again: the next call opens a new connection.',
    });
  }

  #refused(error: unknown): LitterboxError {
    return new LitterboxError(
      'UNAVAILABLE',
      `${this.#name} starts no program: ${saidBy(error)}.`,
      {
        operation: 'host.spawn',
        hint: 'Look at MaxSessions, ForceCommand and restrict in the configuration of its SSH server and in authorized_keys.',
      },
      { cause: error },
    );
  }
}

/** A server's own words are in it. */
const saidBy = (error: unknown): string => visibleName(error instanceof Error ? error.message : String(error));

function streamOf(channel: Duplex): ByteStream {
  channel.on('error', () => {}); // whoever reads or writes is told
  const { readable, writable } = Duplex.toWeb(channel) as unknown as Pick<ByteStream, 'readable' | 'writable'>;
  return {
    readable,
    writable,
    async [Symbol.asyncDispose]() {
      channel.destroy();
    },
  };
}
