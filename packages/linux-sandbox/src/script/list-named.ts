import { type CallOptions, type Host, LOCAL_HOST, quoted } from '@litterbox/core/provider';
import { runScript } from './run-script.ts';
import { scriptError } from './script-error.ts';

/** What is listed, and for whom. */
export interface NamedListing {
  /** Absolute path of the directory above. */
  readonly parent: string;
  /** Shell text, run in the parent for each entry whose name, in `$d`, is one of ours; it may `continue`. */
  readonly each: string;
  /** For messages. */
  readonly operation: string;
  /** There is seldom anything: on this machine it is looked at before a program is started. Another machine is asked once in any case. */
  readonly isOftenEmpty?: true;
}

const UNREADABLE = 87;
/** As the script reads names. */
const NAME = /^[0-9a-f-]+$/;

/** The lines that are printed for the entries of a directory whose names are of hexadecimal digits and dashes, by one script, whatever their number. */
export async function listNamed(
  host: Host,
  { parent, each, operation, isOftenEmpty }: NamedListing,
  options?: CallOptions,
): Promise<readonly string[]> {
  if (isOftenEmpty && host.name === LOCAL_HOST) {
    const entries = await host.files.list(parent, options);
    if (!entries?.some(({ name }) => NAME.test(name))) return [];
  }
  const script = `cd ${quoted(parent)} 2>/dev/null && [ -r . ] || exit ${UNREADABLE}
for d in *; do
case $d in *[!0-9a-f-]*) continue ;; esac
${each}
done`;
  const { code, stdout, stderr } = await runScript(host, script, options);
  // A shell does not tell a directory that is not there from one that this user may not read.
  if (code === UNREADABLE && (await host.files.list(parent, options)) === undefined) return [];
  if (code !== 0) throw scriptError(operation, code, stderr);
  return stdout.split('\n');
}
