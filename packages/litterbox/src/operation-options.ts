// Made by npm run options:write from the operations of core, never by hand.

/** How a sandbox is made. Everything else comes from the configuration. */
export interface CreateInput {
  /** Name for people; becomes a slug of a-z, 0-9 and dashes, 1 to 40 characters. Default: a made-up one. */
  readonly name?: string | undefined;
  /** Base to start from: head, worktree (with the uncommitted changes), or a commit. Default: the configuration's. */
  readonly from?: string | undefined;
  /** The files that it begins with, by their paths, where there is no repository (`repo: false`); up to 10,000. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined;
  /** Paths of the working tree to copy in although git ignores them or they look like secrets; not recorded: node_modules,target. */
  readonly include?: string[] | undefined;
  /** Base of the workspace: a frozen tree of the commit, or the working tree itself, without a copy. */
  readonly lower?: 'frozen' | 'live' | undefined;
  /** Provider that runs it. Default: the first that works here. */
  readonly provider?: string | undefined;
  /** Machine to run it on: one of your hosts, or several, of which Litterbox takes the one with the most room. */
  readonly host?: string | readonly string[] | undefined;
  /** Memory of all processes together, such as 2GiB. In bytes. */
  readonly memoryBytes?: number | undefined;
  /** Processors, fractions allowed. */
  readonly cpus?: number | undefined;
  /** Processes and threads at once. */
  readonly processes?: number | undefined;
  /** Open descriptors per process. */
  readonly openFiles?: number | undefined;
  /** Most that it may write in all. In bytes. */
  readonly diskBytes?: number | undefined;
  /** Bytes read and written per second. */
  readonly diskBytesPerSecond?: number | undefined;
  /** For commands without a timeout of their own. In milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Variables for every command. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Where the workspace is inside; absolute. */
  readonly workdir?: string | undefined;
  /** Run once, instead of the configured setup command. */
  readonly setup?: string | readonly [string, ...string[]] | readonly (readonly [string, ...string[]])[] | undefined;
  /** For the setup as a whole. In milliseconds. */
  readonly setupTimeoutMs?: number | undefined;
  /** A root file system instead of this machine's programs. */
  readonly rootfs?: string | undefined;
  /** A container image, for docker and podman. */
  readonly image?: string | undefined;
  /** Phases that may reach the hosts that are allowed: none, the setup, commands after it, or both. */
  readonly network?: 'none' | 'setup' | 'run' | 'both' | undefined;
  /** Hosts that may be reached, over HTTPS: registry.example.org, *.example.org, host.example.org:8443. */
  readonly allow?: string[] | undefined;
  /** Hosts that may be reached at addresses of a private network, such as a registry of your own. */
  readonly allowPrivate?: string[] | undefined;
  /** Hosts that stay out of reach, as exceptions. */
  readonly deny?: string[] | undefined;
  /** A playground of its own, or the one that sandboxes share. */
  readonly playgroundScope?: 'sandbox' | 'shared' | undefined;
  /** A one-commit repository inside, for tools that want one. */
  readonly workspaceGit?: 'none' | 'throwaway' | undefined;
  /** When .litterbox/worktrees/<name> is written. */
  readonly worktrees?: 'on-demand' | 'eager' | undefined;
  /** Refuse calls that change files without a message. */
  readonly requireMessage?: boolean | undefined;
  /** Continue although a security control is missing. */
  readonly allowDegraded?: boolean | undefined;
  /** Run the setup again although its result is kept. */
  readonly freshSetup?: boolean | undefined;
  /** Remove everything again when the setup fails. */
  readonly rollback?: boolean | undefined;
  /** Labels to find it by, up to 32, by their names. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Delete it, with all its work, when its object or the Litterbox is disposed of. */
  readonly ephemeral?: boolean | undefined;
}

/** How a command runs. */
export interface RunInput {
  /** Absolute inside, or relative to the workspace. */
  readonly cwd?: string | undefined;
  /** For this command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Stop the whole process tree after this, such as 90s. In milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** The subject of the revision. */
  readonly message?: string | undefined;
  /** How long to wait for another call in the sandbox to end, such as 5m. In milliseconds. */
  readonly waitMs?: number | undefined;
  /** Most to keep of each stream; the middle is left out. In bytes. */
  readonly maxOutputBytes?: number | undefined;
  /** Errors go where output goes, in order. */
  readonly mergeOutput?: boolean | undefined;
  /** The tool that calls, a word of a-z and dashes: the subject of the revision begins with it. */
  readonly tool?: string | undefined;
}

/** How a process is started that a person or a program works with. */
export interface AttachInput {
  /** The subject of the revision. */
  readonly message?: string | undefined;
  /** A text for the shell, or a program and its arguments. Default: an interactive shell. */
  readonly command?: string | readonly [string, ...string[]] | undefined;
  /** It has a terminal of this size, in characters, 1 to 65535. Default: pipes. */
  readonly terminal?: { readonly columns: number; readonly rows: number } | undefined;
  /** For this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Absolute inside, or relative to the workspace. */
  readonly cwd?: string | undefined;
  /** Errors go where output goes, in order. */
  readonly mergeOutput?: boolean | undefined;
  /** It reads end of file at once, and starts faster. */
  readonly noInput?: boolean | undefined;
  /** Processes that it leaves in the background end with it. */
  readonly endsAll?: boolean | undefined;
  /** Its changes are recorded while it works too, whenever nothing changed for a second. */
  readonly recordsMeanwhile?: boolean | undefined;
  /** The part of the command that a person recognises, where a program wrapped it. */
  readonly subject?: string | undefined;
  /** The agent's own id of the call: letters, digits and . : _ -, at most 128. */
  readonly callId?: string | undefined;
  /** The tool that calls, a word of a-z and dashes: the subject of the revision begins with it. */
  readonly tool?: string | undefined;
}

/** The same, with the sandbox by its name. */
export interface AttachByNameInput extends AttachInput {
  /** Name of the sandbox, slugified as it was at create. */
  readonly sandbox: string;
}

/** An apply or merge that is only planned. */
export interface PlanInput {
  /** Arguments of git merge, from an allow-list. */
  readonly arguments?: readonly string[] | undefined;
  /** For the merge commit, or the last commit where there is none; or that of an apply which is committed. */
  readonly message?: string | undefined;
  /** Put uncommitted edits aside and back again. */
  readonly autostash?: boolean | undefined;
  /** Take exactly this revision, which has to be the newest, without having been shown it. */
  readonly tip?: string | undefined;
  /** Accept files that run code on this machine, of what you were shown. */
  readonly acceptRisky?: boolean | undefined;
  /** How long to wait for another call in the sandbox to end, such as 5m. In milliseconds. */
  readonly waitMs?: number | undefined;
  /** The step that is planned. */
  readonly integration: 'apply' | 'merge';
  /** Only these files and directories, of an apply. */
  readonly paths?: readonly string[] | undefined;
  /** Some changes of files, each with the digest of all that were seen. */
  readonly parts?:
    | readonly { readonly path: string; readonly digest: string; readonly changes: readonly number[] }[]
    | undefined;
  /** Files in conflict as a person settled them, each with the digest of the sides that were seen. */
  readonly settled?:
    | readonly (
        | { readonly path: string; readonly digest: string; readonly take: 'ours' | 'theirs' }
        | { readonly path: string; readonly digest: string; readonly text: string }
      )[]
    | undefined;
  /** Commit an apply at once, as you. */
  readonly commit?: boolean | undefined;
}

/** The same, with the sandbox by its name. */
export interface PlanByNameInput extends PlanInput {
  /** Name of the sandbox, slugified as it was at create. */
  readonly sandbox: string;
}

/** How work is staged: `tip` and `acceptRisky` are a person's yes. */
export interface ApplyInput {
  /** Arguments of git merge, from an allow-list. */
  readonly arguments?: readonly string[] | undefined;
  /** For the merge commit, or the last commit where there is none; or that of an apply which is committed. */
  readonly message?: string | undefined;
  /** Put uncommitted edits aside and back again. */
  readonly autostash?: boolean | undefined;
  /** Take exactly this revision, which has to be the newest, without having been shown it. */
  readonly tip?: string | undefined;
  /** Accept files that run code on this machine, of what you were shown. */
  readonly acceptRisky?: boolean | undefined;
  /** How long to wait for another call in the sandbox to end, such as 5m. In milliseconds. */
  readonly waitMs?: number | undefined;
  /** Only these files and directories; after --: arguments of git merge, from an allow-list. */
  readonly paths?: readonly string[] | undefined;
  /** Some changes of files, each with the digest of all that were seen. */
  readonly parts?:
    | readonly { readonly path: string; readonly digest: string; readonly changes: readonly number[] }[]
    | undefined;
  /** Files in conflict as a person settled them, each with the digest of the sides that were seen. */
  readonly settled?:
    | readonly (
        | { readonly path: string; readonly digest: string; readonly take: 'ours' | 'theirs' }
        | { readonly path: string; readonly digest: string; readonly text: string }
      )[]
    | undefined;
  /** Commit it at once, as you. */
  readonly commit?: boolean | undefined;
}

/** How work is merged: `tip` and `acceptRisky` are a person's yes, `message` the subject of the commit. */
export interface MergeInput {
  /** Arguments of git merge, from an allow-list. */
  readonly arguments?: readonly string[] | undefined;
  /** For the merge commit, or the last commit where there is none; or that of an apply which is committed. */
  readonly message?: string | undefined;
  /** Put uncommitted edits aside and back again. */
  readonly autostash?: boolean | undefined;
  /** Take exactly this revision, which has to be the newest, without having been shown it. */
  readonly tip?: string | undefined;
  /** Accept files that run code on this machine, of what you were shown. */
  readonly acceptRisky?: boolean | undefined;
  /** How long to wait for another call in the sandbox to end, such as 5m. In milliseconds. */
  readonly waitMs?: number | undefined;
  /** Files in conflict as a person settled them, each with the digest of the sides that were seen. */
  readonly settled?:
    | readonly (
        | { readonly path: string; readonly digest: string; readonly take: 'ours' | 'theirs' }
        | { readonly path: string; readonly digest: string; readonly text: string }
      )[]
    | undefined;
}

/** How the files of the review branch are written. */
export interface WorktreeInput {
  /** Take exactly this revision, which has to be the newest, without having been shown it. */
  readonly tip?: string | undefined;
  /** Accept files that run code on this machine, of what you were shown. */
  readonly acceptRisky?: boolean | undefined;
}

/** Which part of the changes is read. */
export interface DiffInput {
  /** Only these files and directories. */
  readonly paths?: readonly string[] | undefined;
  /** Lines around each change, 3 without. */
  readonly contextLines?: number | undefined;
  /** Only what changed since you were shown it last. */
  readonly sinceSeen?: boolean | undefined;
  /** One revision against the one before, by number or commit. */
  readonly revision?: string | undefined;
}

/** Which output of services is read. */
export interface LogsInput {
  /** One of them; all when it is left out. */
  readonly service?: string | undefined;
  /** Stay, and show what comes. */
  readonly isFollowing?: boolean | undefined;
  /** How much of the end of each, such as 4KiB. In bytes. */
  readonly tailBytes?: number | undefined;
}
