import type { Ecosystem } from './ecosystems.ts';

/**
 * A `.litterbox.toml` that says nothing yet. Lines `# …` are words for a person; lines `#key = …` are settings that take effect when
 * the `#` goes. A test takes all of them away and reads the result.
 */
export function configText(ecosystems: readonly Ecosystem[]): string {
  const setup = ecosystems.map(({ setup }) => setup);
  const hosts = [...new Set(ecosystems.flatMap((one) => one.hosts))];
  const seen = ecosystems.map(({ files }) => files.join(' and '));
  const setupLines =
    setup.length === 0
      ? [
          '# What prepares a new sandbox, once: a command as a list, or a text for the shell.',
          '#setup-command = "make deps"',
        ]
      : [
          ...wrapped(`What prepares a new sandbox, once. Suggested because of ${seen.join(', ')}.`),
          `#setup-command = ${list(setup)}`,
        ];
  return `# Litterbox: what sandboxes of this repository are like. All of it is optional.
# A line takes effect without the # at its start. Keys marked [trust] widen what a sandbox may do: after you
# change one, agree to it once with \`litterbox trust\`. All keys: docs/guides/configuration.md of Litterbox

# Start from HEAD, or from the working tree with its uncommitted changes [trust].
#source = "worktree"

[container]
${setupLines.join('\n')}
# [trust] The setup has no network unless [network] below gives it one, so it cannot download.

# [trust] Variables for every command. Not for secrets: this file is committed.
#env = { CI = "true" }

[limits]
# These are the defaults; more than them is [trust].
#memory = "4GiB"
#cpus = 2
#processes = 512
# For a command without a timeout of its own, and for the setup as a whole.
#timeout = "2m"
#setup-timeout = "10m"

[network]
# [trust] Which hosts the setup may reach, over HTTPS. The same for commands: run = "allow-list".
#setup = "allow-list"
#allow = ${list(hosts.length === 0 ? ['registry.example.org'] : hosts)}

[workspace]
# A one-commit git repository inside, for tools that want one. Litterbox never reads it back.
#git = "throwaway"

[revisions]
# Refuse a change without a message.
#require-message = true
`;
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
