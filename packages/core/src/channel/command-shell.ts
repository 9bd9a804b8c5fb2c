/** What runs commands that are given as text. */
export type CommandShell = 'bash' | 'sh';

/**
 * The one place that decides: bash where PATH has one, because that is what people and models write, else sh. Bash reads no files of
 * its own first: it would take a socket as its input for a login from elsewhere, and read `~/.bashrc`.
 *
 * Defines `lb_shell`, the name, and `lb_run_text`, which becomes that shell.
 */
export const SHELL_DEFINITIONS = `if command -v bash >/dev/null 2>&1; then lb_shell=bash; else lb_shell=sh; fi
lb_run_text() {
if [ "$lb_shell" = bash ]; then exec bash --noprofile --norc -c "$1"; else exec sh -c "$1"; fi
}
`;

/** For the channel's own shell, which has {@link SHELL_DEFINITIONS}: runs the text that is its first argument. */
export const RUN_TEXT = 'lb_run_text "$1"';

/** A text as a program and its arguments, for whoever starts programs by other ways than the channel. */
export function shellArguments(text: string): readonly [string, ...string[]] {
  return ['sh', '-c', `${SHELL_DEFINITIONS}${RUN_TEXT}`, 'sh', text];
}

/** The same shell for a person at a terminal, with the files that they expect it to read. */
export const INTERACTIVE_SHELL = ['sh', '-c', `${SHELL_DEFINITIONS}exec $lb_shell`] as const;
