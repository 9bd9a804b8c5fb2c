/** What the client program does. */
export type Job =
  | { readonly do: 'create'; readonly name: string; readonly setup?: string }
  | { readonly do: 'fork'; readonly name: string; readonly as: string }
  | { readonly do: 'run'; readonly name: string; readonly command: string; readonly says?: boolean }
  | { readonly do: 'write'; readonly name: string; readonly path: string; readonly content: string }
  | { readonly do: 'read'; readonly name: string; readonly path: string }
  | { readonly do: 'milestone'; readonly name: string; readonly message: string }
  | { readonly do: 'apply' | 'merge'; readonly name: string; readonly autostash?: boolean }
  | { readonly do: 'delete'; readonly name: string }
  | { readonly do: 'state'; readonly name: string; readonly state: 'paused' | 'stopped' | 'ready' }
  | { readonly do: 'restore'; readonly name: string; readonly revision: string }
  | { readonly do: 'snapshot'; readonly name: string }
  | { readonly do: 'snapshot-restore'; readonly name: string; readonly label: string }
  | { readonly do: 'recover'; readonly name: string }
  | { readonly do: 'list' }
  | { readonly do: 'reconcile' };

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** One line of its output. `during`: it has started, or a command of it said something. */
export type Reply = { readonly ok: unknown } | { readonly error: Failure } | { readonly during: string };
