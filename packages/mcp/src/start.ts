import { hintForPeople, isLitterboxError } from '@litterbox/core/agent';
import { setFlagsFromString } from 'node:v8';
import { HELP, parseMcpOptions, parseServeOptions } from './mcp-options.ts';

export { launchKeeper } from './launch-keeper.ts';
export { tokenFrom } from './token-file.ts';

/** Runs `litterbox mcp` or `litterbox serve` with the words after it, or what keeps a sandbox, and sets the exit code. */
export async function start(verb: 'mcp' | 'serve' | 'keep', args: readonly string[]): Promise<void> {
  // V8's young generation would otherwise keep for good what one large call took.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Standard output belongs to the protocol: whatever a library prints goes to the other stream.
  console.log = console.info = console.debug = console.error;
  try {
    if (verb === 'keep') {
      await (await import('./start-keeper.ts')).startKeeper(args);
      process.exit(); // whatever still holds on: the sandbox is no longer this program's business
    } else if (verb === 'mcp') {
      const options = parseMcpOptions(args);
      if (options === 'help') process.stdout.write(HELP.mcp);
      else await (await import('./start-stdio.ts')).startStdio(options);
    } else {
      const options = parseServeOptions(args);
      if (options === 'help') process.stdout.write(HELP.serve);
      else await (await import('./start-http.ts')).startHttp(options);
    }
  } catch (error) {
    const hint = isLitterboxError(error) ? hintForPeople(error.details) : undefined;
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    if (hint !== undefined) process.stderr.write(`→ ${hint}\n`);
    process.exitCode = isLitterboxError(error, 'ARG_UNKNOWN') || isLitterboxError(error, 'ARG_RANGE') ? 2 : 5;
  }
}
