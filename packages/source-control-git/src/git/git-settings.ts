/** Options of git that no repository, no environment and no agent may override (security.md 6.1.2). */
const SEALED_CONFIGURATION = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.untrackedCache=false',
  'index.sparse=false', // update-index does not look into a directory that a sparse index holds as one entry
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.fsync=all',
  'core.fsyncMethod=fsync',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'diff.ignoreSubmodules=all',
  'fetch.recurseSubmodules=false',
  'fetch.writeCommitGraph=false',
  'safe.bareRepository=explicit',
  'protocol.allow=never',
  'credential.helper=',
  'core.sshCommand=/bin/false',
  'transfer.fsckObjects=true',
  'receive.fsckObjects=true',
  'fetch.fsckObjects=true',
  'uploadpack.allowFilter=false',
];

/** What stays off even where the person's own configuration applies: nothing of a merged tree may run by itself. */
const USER_CONFIGURATION = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.fsync=all',
  'core.fsyncMethod=fsync',
  'index.sparse=false',
];

/** Events of hooks that configuration alone can define since git 2.54; `core.hooksPath` does not reach those. */
const HOOK_EVENTS = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'p4-changelist',
  'p4-post-changelist',
  'p4-pre-submit',
  'p4-prepare-changelist',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-receive',
  'post-rewrite',
  'post-update',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'pre-receive',
  'prepare-commit-msg',
  'proc-receive',
  'push-to-checkout',
  'reference-transaction',
  'sendemail-validate',
  'update',
];

const COMMON_ENVIRONMENT = {
  TZ: 'UTC',
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
  GIT_EDITOR: '/bin/false',
  GIT_SEQUENCE_EDITOR: '/bin/false',
  GIT_ADVICE: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_PROTOCOL_FROM_USER: '0',
};

/** The variables of the person that their own filters, merge tools and signing programs need. No other `GIT_*`, ever. */
const USER_VARIABLES = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'XDG_CONFIG_HOME',
  // Where their configuration is, as HOME says it too.
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  // Who they are, where their configuration does not say it.
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'EMAIL',
  'XDG_RUNTIME_DIR',
  'GNUPGHOME',
  'GPG_TTY',
  'SSH_AUTH_SOCK',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'DBUS_SESSION_BUS_ADDRESS',
  'TMPDIR',
];

function withHooksOff(configuration: readonly string[], [major, minor]: readonly [number, number]): readonly string[] {
  const hooks = major > 2 || minor >= 54 ? HOOK_EVENTS.map((event) => `hook.${event}.enabled=false`) : [];
  return [...configuration, ...hooks];
}

/** For a repository of ours, or for looking at the person's. */
export function sealedSettings(version: readonly [number, number]): readonly string[] {
  return withHooksOff(SEALED_CONFIGURATION, version);
}

/** Where the person's own configuration is wanted. */
export function userSettings(version: readonly [number, number]): readonly string[] {
  return withHooksOff(USER_CONFIGURATION, version);
}

/** Built from scratch: nothing of this process's environment reaches git. */
export function sealedEnvironment(home: string): Readonly<Record<string, string>> {
  return {
    ...COMMON_ENVIRONMENT,
    PATH: '/usr/bin:/bin',
    HOME: home,
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ASKPASS: '/bin/false',
    SSH_ASKPASS: '/bin/false',
    GIT_SSH_COMMAND: '/bin/false',
    GIT_AUTHOR_NAME: 'Litterbox',
    GIT_AUTHOR_EMAIL: 'litterbox@localhost',
    GIT_COMMITTER_NAME: 'Litterbox',
    GIT_COMMITTER_EMAIL: 'litterbox@localhost',
  };
}

export function userEnvironment(own: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const kept: Record<string, string> = { PATH: '/usr/bin:/bin', ...COMMON_ENVIRONMENT };
  delete kept['TZ'];
  for (const name of USER_VARIABLES) {
    const value = own[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
