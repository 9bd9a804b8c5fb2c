/** What an engine and its clients show each other. Absent parts are the client's own defaults. */
export interface EngineTls {
  /** Who vouches for the engine, as PEM. @defaultValue whom Node trusts */
  readonly ca?: Uint8Array;
  /** What this client shows, as PEM; both or none. */
  readonly cert?: Uint8Array;
  readonly key?: Uint8Array;
  /** Where they are, for messages. */
  readonly directory: string;
}

/** Where an engine listens, as seen from the host whose provider asks it. */
export type EngineAddress =
  /** Absolute path of a socket on the host. */
  | { readonly type: 'unix'; readonly path: string }
  /** 1 to 65535. Without `tls` it is a port of the host's own loopback. */
  | { readonly type: 'tcp'; readonly host: string; readonly port: number; readonly tls?: EngineTls }
  /** A socket on another machine. */
  | {
      readonly type: 'ssh';
      /** `[USER@]HOST[:PORT]`. */
      readonly destination: string;
      /** Absolute path there. @defaultValue where the machine has it */
      readonly path?: string;
      /** Absolute path of a private key that is tried first. */
      readonly identityFile?: string;
    };

/** As it is told to people, and what looks at an engine are remembered by. */
export function showAddress(address: EngineAddress): string {
  switch (address.type) {
    case 'unix':
      return address.path;
    case 'tcp':
      return `tcp://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
    case 'ssh':
      return `ssh://${address.destination}${address.path ?? ''}`;
  }
}

/** Whether a name or address leads nowhere but to the machine itself. Nothing is looked up: a name can lead anywhere. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether the engine is on another machine for certain, so that it need not be tried whether it sees the host's files. */
export function isElsewhere(address: EngineAddress): boolean {
  return address.type === 'ssh' || (address.type === 'tcp' && !isLoopback(address.host));
}
