import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Era } from '@litterbox/hardening/agent';

const PROGRAM = fileURLToPath(
  new URL(
    '../../../tools/referees/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    import.meta.url,
  ),
);

/** Why the Inspector cannot judge here. */
export const inspectorAbsence = async (): Promise<string | undefined> =>
  existsSync(PROGRAM) ? undefined : 'the MCP Inspector is not installed: sh tools/test-host.sh up';

/** How a server is started. */
export interface ServerStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Verdict {
  readonly code: number | null;
  /** What it printed as its result. */
  readonly result: Record<string, unknown>;
  /** What it warned of, and what the server said. */
  readonly stderr: string;
}

/** The command line of the MCP Inspector, with a home of its own below the directory. */
export class Inspector {
  readonly #config: string;
  readonly #home: string;

  constructor(directory: string, server: ServerStart) {
    this.#home = mkdtempSync(join(directory, 'inspector-'));
    this.#config = join(this.#home, 'servers.json');
    writeFileSync(this.#config, JSON.stringify({ mcpServers: { server } }));
  }

  async ask(era: Era, method: string, ...args: readonly string[]): Promise<Verdict> {
    const words = ['--cli', '--config', this.#config, '--server', 'server', '--protocol-era', era, '--method', method];
    const child = spawn(process.execPath, [PROGRAM, ...words, '--format', 'json', ...args], {
      env: { PATH: process.env['PATH'], HOME: this.#home, MCP_INSPECTOR_SECRET_STORE: 'memory', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(child, 'close');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    const { result = {} } = JSON.parse(stdout || '{}') as { result?: Record<string, unknown> };
    // Each line that begins so is about how the Inspector keeps secrets.
    return { code: child.exitCode, result, stderr: stderr.replaceAll(/^\[mcp-inspector\] .*\n/gm, '') };
  }
}
