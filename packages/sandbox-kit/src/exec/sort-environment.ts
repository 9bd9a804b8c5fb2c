/** Names by which an environment gives orders to loaders, shells, interpreters and git. */
const HOSTILE =
  /^(LD_.*|BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|IFS|CDPATH|GLOBIGNORE|BASH_FUNC_.*|GIT_.*|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|PERL5OPT|PERL5LIB|RUBYOPT|LITTERBOX_.*)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Takes apart an environment that an image gives.
 *
 * @param entries `NAME=VALUE` each; those whose name is none of a variable are left out
 * @returns the variables, and the names of those that would give orders, which are not among them
 */
export function sortEnvironment(entries: Iterable<string>): {
  readonly environment: Readonly<Record<string, string>>;
  readonly hostileNames: readonly string[];
} {
  const environment: Record<string, string> = {};
  const hostileNames: string[] = [];
  for (const entry of entries) {
    const cut = entry.indexOf('=');
    const name = cut === -1 ? entry : entry.slice(0, cut);
    if (!NAME.test(name)) continue;
    if (HOSTILE.test(name)) hostileNames.push(name);
    else environment[name] = entry.slice(cut + 1);
  }
  return { environment, hostileNames };
}
