/**
 * What Claude Code hands to its shell for one call of its tool Bash, as 2.1.328 does: one text that reads a snapshot of the person's own
 * shell, runs the command, and writes the directory in which it ended to a file, from which Claude reads it.
 */
export interface BashCall {
  /** As the model gave it. */
  readonly command: string;
  /** The part of the text that means something inside, up to the path of the file for the directory. */
  readonly script: string;
  /** The file for the directory. Nothing that does not look like one of Claude's own. */
  readonly directoryFile: string;
}

/** Before a command with backticks stands a guard against an old bash. */
const BEGINS = /^(?:\{ case "\$\{BASH_VERSINFO-\}" in [^\n]*?;; esac; \} && )?source /;
const RUNS = ' && eval ';
const ENDS = /^(?: < \/dev\/null)? && pwd -P >\| (\/tmp\/claude-[0-9a-z-]{1,64}-cwd)$/;

/** Takes the command out of its wrapper. `undefined`: the text is not one of those, as that of a hook. */
export function bashCall(text: string): BashCall | undefined {
  const at = text.indexOf(RUNS);
  if (!BEGINS.test(text) || at === -1) return undefined;
  const word = shellWord(text, at + RUNS.length);
  const [, directoryFile] = (word && ENDS.exec(text.slice(word.end))) ?? [];
  if (!word || directoryFile === undefined) return undefined;
  const script = text.slice(at + ' && '.length, -directoryFile.length);
  return { command: word.value, script, directoryFile };
}

/** The word of a shell's language that begins at a place, without its quotes. Nothing is expanded: none that would be is taken. */
function shellWord(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  let at = start;
  const part = /'([^']*)'|"((?:[^"\\$`]|\\["\\$`])*)"|\\([^\n])|([\w@%+=:,./-]+)/y;
  for (;;) {
    part.lastIndex = at;
    const found = part.exec(text);
    if (!found) break;
    const [whole, single, double, escaped, bare] = found;
    value += single ?? double?.replaceAll(/\\(.)/g, '$1') ?? escaped ?? bare ?? '';
    at += whole.length;
  }
  return at === start ? undefined : { value, end: at };
}
