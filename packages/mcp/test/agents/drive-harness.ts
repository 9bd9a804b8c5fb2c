import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { makeCertificate } from '@litterbox/testing';
import type { AgentFixture } from './agent-fixture.ts';
import { withTool } from './drive-seat.ts';
import { messagesApi } from './messages-api.ts';
import { modelServer, type Talk } from './model-server.ts';
import { calling, mustMatch, type Plot } from './plot.ts';

const LIMIT_MS = 300_000;
/** Nowhere inside: it is searched for. */
const KEY = 'sk-real-canary-0123456789abcdef';
const RESOLVER = new URL('sdk-resolver.mjs', import.meta.url).href;
const PROGRAM = fileURLToPath(new URL('../../../../examples/harness/claude-code.mjs', import.meta.url));

/** What the harness runs inside to get its agent, without a registry. */
const pnpm = (install: string) => `#!/bin/sh
[ "$1" = --dir ] && [ "$3" = install ] || exit 2
cp -a '${install}/node_modules' "$2/"
`;

/**
 * Claude Code at work inside, started by the AI SDK's harness: its own bridge and program, a model of ours outside, and the key of that outside.
 * The workspace has the work, and a person merges it.
 *
 * @param install with the harness, and with what it would bring inside
 * @throws AssertionError
 */
export async function driveHarness(
  install: string,
  fixture: AgentFixture,
): Promise<{ readonly talk: Talk; readonly seconds: number }> {
  const { directory, repository } = fixture.scratch;
  const tools = join(directory, 'tools');
  for (const name of ['bin', 'lib']) mkdirSync(join(tools, name), { recursive: true });
  execFileSync('cp', ['-a', '--reflink=auto', join(install, 'node_modules'), join(tools, 'lib')]);
  writeFileSync(join(tools, 'bin/pnpm'), pnpm(join(tools, 'lib')), { mode: 0o755 });
  const certificate = makeCertificate();
  const outside = { certificate, header: 'x-api-key', value: KEY };
  await using model = await modelServer(withTool(messagesApi, 'Bash'), plot(), undefined, outside);
  const ca = join(directory, 'ca.pem');
  writeFileSync(ca, certificate.cert);
  writeFileSync(
    join(repository, '.litterbox.toml'),
    `[secrets]\nKEY = { environment = "MODEL_KEY" }\n[endpoints.model]\nkind = "anthropic"\nurl = "${model.url}"\nsecret = "KEY"\n`,
  );
  const trusted = fixture.litterbox('trust', '--yes');
  assert.equal(trusted.status, 0, trusted.stderr);
  const startedMs = performance.now();
  const conditions = process.execArgv.filter((one) => one.startsWith('--conditions='));
  const child = spawn(process.execPath, ['--no-warnings', ...conditions, '--import', RESOLVER, PROGRAM], {
    cwd: repository,
    env: {
      ...fixture.environment,
      PATH: `${tools}/bin:${fixture.environment['PATH']}`,
      LITTERBOX_AGENT_SDKS: install,
      MODEL_KEY: KEY,
      NODE_EXTRA_CA_CERTS: ca,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const closed = once(child, 'close');
  const said = (await Promise.all([text(child.stdout), text(child.stderr), closed])).slice(0, 2).join('');
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  assert.equal(model.talk.failure, undefined, said);
  assert.ok(model.talk.isOver, said);
  assert.equal(child.exitCode, 0, said);
  assert.match(said, /^The greeting is right\.$/m);
  const [kept] = JSON.parse(fixture.litterbox('list', '--json').stdout) as readonly { readonly name: string }[];
  const name = kept?.name ?? '';
  assert.match(name, /^session-/); // work that nobody took is kept
  const merged = fixture.litterbox('merge', name);
  assert.equal(merged.status, 0, merged.stderr);
  assert.equal(execFileSync('sh', ['greet.sh', 'Ada'], { cwd: repository, encoding: 'utf8' }), 'Hello, Ada\n');
  assert.equal(execFileSync('sh', ['-c', `grep -rlaF "$0" "$1" || true`, KEY, directory], { encoding: 'utf8' }), '');
  return { talk: model.talk, seconds };
}

function* plot(): Plot {
  const input = (command: string) => ({ command, description: 'The next step' });
  const wrong = yield* calling('Bash', input('sh greet.sh Ada'));
  mustMatch('the greeting', wrong, /Helo, Ada/);
  const right = yield* calling('Bash', input(`sed -i 's/Helo/Hello/' greet.sh && sh greet.sh Ada`));
  mustMatch('the greeting as it is now', right, /Hello, Ada/);
  return 'The greeting is right.';
}
