/** Headings of the list of commands, in the order of a first day, with the verbs below each. */
export const COMMAND_GROUPS: readonly (readonly [heading: string, verbs: readonly string[]])[] = [
  ['Start:', ['init', 'create', 'run', 'shell', 'list']],
  [
    'Review:',
    [
      'review',
      'log',
      'diff',
      'blame',
      'trace',
      'forecast',
      'apply',
      'merge',
      'delete',
      'milestone',
      'worktree',
      'undo',
      'restore',
      'snapshot',
    ],
  ],
  ['Agents:', ['with', 'agent', 'acp', 'cost', 'mcp', 'serve']],
  ['Services:', ['service', 'logs', 'ports']],
  ['More sandboxes:', ['fork', 'race', 'clone', 'pause', 'resume', 'recover']],
  ['This machine and others:', ['doctor', 'host', 'explain', 'trust', 'secret', 'audit']],
];

/** What the commands below a word have in common, for the list of commands. */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  secret: 'Tell which secrets of yours .litterbox.toml names, and whether each is there',
  snapshot: 'Keep what a sandbox holds, ignored files and home too, and go back to it',
};

/** The same for options of commands that have many, by operation and key of its input. */
export const OPTION_GROUPS: Readonly<Record<string, readonly (readonly [heading: string, keys: readonly string[]])[]>> =
  {
    'sandbox-create': [
      ['What is in it:', ['from', 'lower', 'include', 'workdir', 'environment', 'workspaceGit', 'playgroundScope']],
      ['Setup:', ['setup', 'setupTimeoutMs', 'freshSetup', 'rollback']],
      ['Network:', ['network', 'allow', 'allowPrivate', 'deny']],
      ['Where it runs:', ['provider', 'host', 'image', 'rootfs', 'allowDegraded']],
      ['Limits:', ['memoryBytes', 'cpus', 'processes', 'openFiles', 'diskBytes', 'diskBytesPerSecond', 'timeoutMs']],
      ['Review:', ['requireMessage', 'worktrees', 'labels']],
    ],
  };

/** The heading that a verb or a key stands below. */
export function headingOf(
  groups: readonly (readonly [heading: string, members: readonly string[]])[] | undefined,
  member: string,
): string | undefined {
  return groups?.find(([, members]) => members.includes(member))?.[0];
}
