import { isLitterboxError } from '@litterbox/core/agent';
import { MCP_HELP, parseMcpOptions } from './mcp-options.ts';

/** Runs `litterbox mcp` with the words after it, and sets the exit code. */
export async function start(args: readonly string[]): Promise<void> {
  // Standard output belongs to the protocol: whatever a library prints goes to the other stream.
  console.log = console.info = console.debug = console.error;
  try {
    const options = parseMcpOptions(args);
    if (options === 'help') {
      process.stdout.write(MCP_HELP);
      return;
    }
    const { startStdio } = await import('./start-stdio.ts');
    await startStdio(options);
  } catch (error) {
    const hint = isLitterboxError(error) ? error.details.hint : undefined;
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    if (hint !== undefined) process.stderr.write(`→ ${hint}\n`);
    process.exitCode = isLitterboxError(error, 'ARG_UNKNOWN') || isLitterboxError(error, 'ARG_RANGE') ? 2 : 1;
  }
}
