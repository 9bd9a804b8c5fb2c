import type { ConfigTable, KeyPath } from './config-editor.ts';

export const SCOPES = ['user', 'project'] as const;
/** Whose configuration: this person's, for every project, or the project's, for everybody who works on it. */
export type Scope = (typeof SCOPES)[number];

/** Where things are on this machine. */
export interface Places {
  readonly home: string;
  /** `XDG_CONFIG_HOME`, or what it is by default. */
  readonly configHome: string;
  /** Top of the work tree; absent outside a repository. */
  readonly root?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** How `litterbox mcp` is started. */
export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** What we know of one program that runs agents and starts MCP servers. One file each; none has any logic of its own. */
export interface AgentClient {
  /** On the command line. */
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** The scope in which the server surely learns which repository it is for. */
  readonly defaultScope: Scope;
  /** Shown by `agent list`: programs in `PATH`, and paths that are there where the client has been used. */
  readonly programs: readonly string[];
  traces(places: Places): readonly string[];
  /** Files of that scope: the first that exists is edited; if none does, the first one is made. */
  files(scope: Scope, places: Places & { readonly root: string }): readonly string[];
  /** Where the entry of that name stands in a document. */
  keyPath(name: string, document: unknown): KeyPath;
  entry(start: StartCommand, document: unknown): ConfigTable;
  /** Arguments that tell the server its repository, where it is not started in it. `root` is only known inside a repository. */
  repositoryArguments?(scope: Scope, root: string | undefined): readonly string[] | undefined;
  /** What a person has to know or do next, one sentence each. */
  advice(scope: Scope, name: string, isExclusive: boolean): readonly string[];
  /** A list that takes the client's own tools away from the agent, for `--exclusive`. */
  readonly exclusive?: {
    files(scope: Scope, places: Places & { readonly root: string }): readonly string[];
    readonly keyPath: KeyPath;
    readonly values: readonly string[];
  };
  /** The user's file that leads the client's own commands and files to a sandbox, for `--hands`. */
  readonly hands?: { file(places: Places): string };
}
