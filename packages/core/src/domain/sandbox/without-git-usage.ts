/** How the text of about 7 KiB begins that `git diff` prints where there is no repository. */
const USAGE = 'usage: git diff --no-index';
/** A usage line, then options, how they go on, their headings, and empty lines: nothing else that was printed behind it. */
const TEXT =
  /^usage: git diff --no-index .*\n(?:(?: {4}-.*| {20,}\S.*|[A-Z][a-z]+(?: [a-z]+)* options)?(?:\n|$(?![\s\S])))+/gm;

/** Output without the options of `git diff`, which no model needs to read to learn that there is no repository. */
export function withoutGitUsage(output: string): string {
  return output.includes(USAGE) ? output.replaceAll(TEXT, '[usage of git diff left out]\n') : output;
}
