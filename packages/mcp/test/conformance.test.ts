import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { forBackend } from '@litterbox/conformance';
import { RepositoryFixture } from '@litterbox/testing';
import { serverArguments } from '@litterbox/hardening/agent';
import { clear } from './mcp-fixture.ts';

const SUITE = fileURLToPath(
  new URL('../../../tools/referees/node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const referee = await forBackend('conformance', { describe, it }, async () =>
  existsSync(SUITE) ? undefined : 'the MCP conformance suite is not installed: sh tools/test-host.sh up',
);

/** What can be judged of any server. All else asks for tools, prompts and resources of the suite's own, which this one has not. */
const GENERIC = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'resources-list',
    'prompts-list',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
    'server-sse-multiple-streams',
    'input-required-result-missing-input-response',
    'input-required-result-unsupported-methods',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
} as const;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

referee.describe('the official conformance suite', () => {
  let scratch: RepositoryFixture;
  let server: ChildProcess;
  let door: Server;
  let url = '';

  beforeAll(async () => {
    scratch = new RepositoryFixture();
    server = spawn(process.execPath, [...serverArguments(['--repo', scratch.repository], 'serve')], {
      env: { PATH: process.env['PATH'], HOME: scratch.directory, LITTERBOX_HOME: scratch.stateDirectory },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(server.stdout ?? server, 'data')) as [Buffer];
    const target = new URL(said.toString().trim());
    const token = readFileSync(join(scratch.stateDirectory, 'serve.token'), 'utf8').trim();
    // The suite cannot send a token: this door adds it, and nothing else.
    door = createServer((asked, answer) => {
      const headers = { ...asked.headers, authorization: `Bearer ${token}` };
      const passed = httpRequest(
        { host: target.hostname, port: target.port, path: asked.url, method: asked.method, headers },
        (given) => {
          answer.writeHead(given.statusCode ?? 500, given.headers);
          given.pipe(answer);
        },
      );
      passed.on('error', () => answer.destroy());
      asked.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(door, 'listening');
    url = `http://127.0.0.1:${(door.address() as AddressInfo).port}${target.pathname}`;
  });
  afterAll(async () => {
    door.close();
    door.closeAllConnections();
    server.kill('SIGTERM');
    await once(server, 'exit');
    await clear(scratch);
  });

  for (const [revision, scenarios] of Object.entries(GENERIC))
    it(`finds nothing wrong with what any server must do (${revision})`, async () => {
      const results = mkdtempSync(join(scratch.directory, 'conformance-'));
      const words = [SUITE, 'server', '--url', url, '--requirements', revision, '--output-dir', results];
      // It fails as a whole, for want of its own tools.
      await promisify(execFile)(process.execPath, words, { cwd: results, maxBuffer: 2 ** 26 }).catch(() => undefined);
      for (const scenario of scenarios) {
        const directory = readdirSync(results).find((name) => name.startsWith(`server-${scenario}-20`));
        expect({ scenario, directory }).toEqual({ scenario, directory: expect.any(String) });
        const file = join(results, directory ?? '', 'checks.json');
        const checks = JSON.parse(readFileSync(file, 'utf8')) as readonly Check[];
        const failed = checks.filter(
          ({ status, errorMessage }) => status === 'FAILURE' && !errorMessage?.startsWith('Not testable:'),
        );
        expect({ scenario, failed }).toEqual({ scenario, failed: [] });
        expect(checks.some(({ status }) => status === 'SUCCESS')).toBe(true);
      }
    });
});
