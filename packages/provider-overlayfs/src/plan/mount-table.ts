import { quoted } from '@litterbox/core/provider';
import { type PlanEntry } from '@litterbox/linux-sandbox';

/** In the options of an overlay: the shell variable `$frozen` of the script that mounts. No path holds this character. */
export const FROZEN_LAYERS = '\0';

/** One mount of a session. */
export type SessionMount =
  | { readonly type: 'bind'; readonly source: string; readonly target: string }
  | { readonly type: 'overlay'; readonly options: string; readonly target: string };

/**
 * Shell text: makes the mounts in their order by one program, and calls `fail` with what that says. Each `mount` of its own would cost a
 * session a program more. Expects the sandbox's directory as the current one; the table stays there under `name` until the next session.
 *
 * @see https://man7.org/linux/man-pages/man5/fstab.5.html for the form of the table
 */
export function mountAll(name: string, mounts: readonly SessionMount[]): string {
  if (mounts.length === 0) return '';
  return `printf %s ${quoted(mounts.map(lineOf).join('')).replaceAll(FROZEN_LAYERS, `'"$frozen"'`)} >${name} || fail 'cannot write the table of mounts'
said=$(mount -a -T ${name} 2>&1) || fail "cannot mount: $said"
`;
}

/** A mount as a step of the session program. */
export function mountStep(mount: SessionMount): PlanEntry {
  return mount.type === 'bind'
    ? ['bind', mount.source, mount.target]
    : ['overlay', mount.options.replaceAll(FROZEN_LAYERS, '\u0001'), mount.target];
}

function lineOf(mount: SessionMount): string {
  const [source, type, options] =
    mount.type === 'bind' ? [mount.source, 'none', 'bind'] : ['overlay', 'overlay', mount.options];
  return `${[source, mount.target, type, options].map(field).join(' ')} 0 0\n`;
}

/** Blanks separate fields; what is not text here is written as bytes are, by three octal digits. */
function field(text: string): string {
  return text.replace(/[ \t\n\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
