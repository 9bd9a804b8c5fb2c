import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';
import { CliFixture, isBuilt, PROVIDER } from './cli-fixture.ts';

const root = new URL('../../..', import.meta.url).pathname;
/** npm may not run on the Node that lies in node_modules. */
const OUTSIDE = (process.env['PATH'] ?? '')
  .split(':')
  .filter((one) => !one.includes('/node_modules/'))
  .join(':');

(isBuilt ? it : it.skip)(
  'one tarball is the whole command: it installs without a registry, and serves agents',
  async () => {
    await using fixture = new CliFixture();
    const directory = mkdtempSync(join(tmpdir(), 'litterbox-packed-'));
    fixture.defer(() => rmSync(directory, { recursive: true, force: true }));
    const pack = [join(root, 'tools/pack-command.mjs'), directory];
    const file = execFileSync(process.execPath, pack, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const prefix = join(directory, 'prefix');
    const npm = ['install', '--global', '--offline', '--prefix', prefix, '--cache', join(directory, 'cache'), file];
    const said = execFileSync('npm', npm, {
      cwd: directory,
      env: { PATH: OUTSIDE, HOME: directory },
      encoding: 'utf8',
    });
    expect(said).toMatch(/added 1 package/);
    expect(said).not.toMatch(/warn/i);
    expect(readdirSync(join(prefix, 'bin'))).toEqual(['litterbox']);
    const program = join(prefix, 'bin/litterbox');
    const env = { ...fixture.environment, PATH: `${dirname(process.execPath)}:${fixture.environment['PATH']}` };
    const run = (args: readonly string[], input = '') =>
      execFileSync(program, args, {
        cwd: fixture.repository,
        env,
        input,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      });
    expect(run(['create', 'packed'])).toBe('packed\n');
    expect(run(['run', 'packed', '--', 'cat', 'a.txt'])).toBe('a\n');
    expect(run(['list'])).toMatch(new RegExp(`^packed\\tready\\t${PROVIDER}\\t`));
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello });
    expect(run(['mcp'], `${line}\n`)).toContain('"serverInfo":{"name":"litterbox"');
  },
);
