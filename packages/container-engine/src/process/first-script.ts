import { initScript } from '@litterbox/sandbox-kit';

/**
 * Becomes what a line of its input says after the word, a format for `printf`, with the rest as its input. Podman 4.3.1 gives it before that what came
 * in the body of the request.
 */
const READER = `while IFS= read -r lb_x; do case $lb_x in "$0 "*) eval "$(printf "\${lb_x#* }")"; exit;; esac; done`;

/**
 * The first process of a sandbox's container; its argument is a word for {@link firstWorkerOf}. It begins one shell, which waits for whoever is the
 * first to attach, and says `gone` with that word when the shell has ended, by whatever hand. Then, or where nobody ever attaches, it waits for
 * ever without any program, reaps what nobody else waits for, and says `gone` to whoever comes after the first.
 *
 * The shell is no background command: what that starts never hears an interrupt. So a signal that asks for an end would wait for it, and
 * the container's own signal for that is the one that asks nobody.
 */
export const FIRST_SCRIPT = initScript(
  `( exec /bin/sh -c '${READER}' "$0" <&3 3<&- )
printf '\\036%s gone %s\\n' "$0" $? >&2
`,
  `&& printf '\\036%s gone 1\\n' "$0" >&2 `,
);
