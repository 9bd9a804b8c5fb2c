import { quoted } from '../../channel/shell-text.ts';
import { visibleName } from '../../domain/text/visible.ts';

/** The command that asks for the same work once more, such as `litterbox apply fix-login src`. */
export function askedAgain(verb: string, slug: string, paths: readonly string[] = []): string {
  const words = paths.map((path) => visibleName(path)).map((path) => (/[^\w./-]|^-/.test(path) ? quoted(path) : path));
  return ['litterbox', verb, slug, ...words].join(' ');
}
