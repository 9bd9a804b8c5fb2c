import type { Experimental_SandboxSession } from 'ai';

/** Eve's `SandboxSession`, as `eve/sandbox` 0.80 has it. Written down here: the types of Eve come with all of Eve. */
export interface EveSandboxSession
  extends Pick<
    Experimental_SandboxSession,
    'run' | 'spawn' | 'readFile' | 'readBinaryFile' | 'readTextFile' | 'writeFile' | 'writeBinaryFile' | 'writeTextFile'
  > {
  /** An absolute path from one that may begin at `/workspace`. */
  resolvePath(path: string): string;
  /** Removes; `force` passes over what is not there, `recursive` takes directories with all that is in them. */
  removePath(options: {
    readonly path: string;
    readonly recursive?: boolean;
    readonly force?: boolean;
    readonly abortSignal?: AbortSignal;
  }): Promise<void>;
}

/** Files of an agent's source, and where they have to be. */
export interface EveResourceTree {
  /** Their contents, by paths below the target. */
  readonly files: readonly { readonly relativePath: string; readonly content: string | Uint8Array }[];
  /** Absolute inside; `$HOME` stands for the home directory. */
  readonly targetPath: string;
}

/** Eve's `SandboxProviderHandle`. */
export interface EveHandle {
  /** The sandbox that is open. */
  readonly sandbox: EveSandboxSession;
  /** Eve's process ends; the sandbox stays as it is. */
  onRuntimeShutdown(): Promise<void>;
  /** The agent's author deletes it. */
  onSandboxDelete(): Promise<void>;
  /** The agent's author stops it. */
  onSandboxStop(): Promise<void>;
}

/** Eve's `SandboxProviderImplementation`, of which artifact and state are of one kind. */
export interface EveImplementation<State> {
  /** Makes what the sandboxes of all sessions begin with. */
  prepare(context: {
    readonly resources: { readonly workspace?: EveResourceTree; readonly skills?: EveResourceTree };
  }): Promise<State>;
  /** Makes the sandbox of a session. */
  start(
    context: object,
    options: object | undefined,
    artifact: Readonly<State>,
  ): Promise<{ readonly handle: EveHandle; readonly state: State }>;
  /** Opens it again, in another process too. */
  resume(context: object, artifact: Readonly<State>, state: Readonly<State>): Promise<EveHandle>;
  /** Ends with a session. May be called again. */
  onSessionEnd(context: object, artifact: Readonly<State>, state: Readonly<State>): Promise<void>;
}
