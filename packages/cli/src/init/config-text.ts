import type { Ecosystem } from '@litterbox/core';

/**
 * A `.litterbox.toml` to start from. Lines `# …` are words for a person; lines `#key = …` are settings that take effect when the `#`
 * goes. A test takes all of them away and reads the result.
 *
 * @param isOn the setup and its network take effect: a person said so
 */
export function configText(ecosystems: readonly Ecosystem[], isOn = false): string {
  const off = isOn ? '' : '#';
  const seen = ecosystems.map(({ files }) => files.join(' and '));
  const hosts = hostsOf(ecosystems);
  const setupLines =
    ecosystems.length === 0
      ? [
          '# What prepares a new sandbox, once: a command as a list, or a text for the shell. Git-ignored files such as',
          '# node_modules are not in a sandbox. The setup has no network without the lines below it.',
          '#setup-command = "make deps"',
        ]
      : [
          ...wrapped(
            `What prepares a new sandbox, once, and where that may download from, over HTTPS. Suggested because of ${seen.join(', ')}; ${isOn ? 'the three lines' : 'switch on all three lines'} belong together.`,
          ),
          `${off}setup-command = ${list(ecosystems.map(({ setup }) => setup))}`,
        ];
  return `# Litterbox: settings for the sandboxes of this repository. All of them are optional.
# A line takes effect without the # at its start. Keys marked [trust] widen what a sandbox may do: after you
# change one, agree to it once with \`litterbox trust\`. All keys: docs/guides/configuration.md of Litterbox

# [trust] Machines of yours that a sandbox may run on: Litterbox takes the one with the most room.
#hosts = ["build-box", "local"]
# Start from HEAD, or from the working tree with its uncommitted changes [trust].
#source = "worktree"
# Files of your working tree to copy in although git ignores them, such as the output of builds [trust].
#include = ["node_modules", "target"]

[container]
# [trust] Variables for every command. Not for secrets: this file is committed.
#env = { CI = "true" }

# [trust]
${setupLines.join('\n')}
[network]
${off}setup = "allow-list"
${off}allow = ${list(hosts.length === 0 ? ['registry.example.org'] : hosts)}
# The same hosts for commands after the setup:
#run = "allow-list"

[limits]
# These are the defaults; more than them is [trust].
#memory = "4GiB"
#cpus = 2
#processes = 512
# For a command without a timeout of its own, and for the setup as a whole.
#timeout = "2m"
#setup-timeout = "10m"

[workspace]
# A one-commit git repository inside, for tools that want one. Litterbox never reads it back.
#git = "throwaway"

[revisions]
# Refuse a change without a message.
#require-message = true
`;
}

/** Where the setups download from, each once. */
export function hostsOf(ecosystems: readonly Ecosystem[]): readonly string[] {
  return [...new Set(ecosystems.flatMap((one) => one.hosts))];
}

/** One command stays one list, several are a list of them. */
function list(items: readonly (string | readonly string[])[]): string {
  const [first, ...others] = items;
  if (Array.isArray(first) && others.length === 0) return list(first as readonly string[]);
  return `[${items.map((item) => (typeof item === 'string' ? JSON.stringify(item) : list(item))).join(', ')}]`;
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < 100) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`# ${word}`);
  }
  return lines;
}
