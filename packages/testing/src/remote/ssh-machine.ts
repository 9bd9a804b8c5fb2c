/** Where something listens for TCP connections. */
export interface Door {
  readonly address: string;
  readonly port: number;
}

/** What a client needs to log in: options of `openSshHost`. */
export interface SshLogin {
  readonly destination: string;
  readonly identityFile: string;
  /** Where the files of the client are, which know the server. */
  readonly client: { readonly home: string; readonly environment: Readonly<Record<string, string>> };
}

/** A machine that one logs in to. */
export interface SshMachine {
  readonly login: SshLogin;
}
