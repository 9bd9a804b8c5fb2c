import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { AgentFixture } from './agent-fixture.ts';
import { type SeatedClient, withTool } from './drive-seat.ts';
import { modelServer, type Talk } from './model-server.ts';
import { calling, mustMatch, type Plot } from './plot.ts';

const LIMIT_MS = 180_000;
const RESOLVER = new URL('sdk-resolver.mjs', import.meta.url).href;

/** Runs the example of a client's SDK, with the real client and a model of ours. @throws AssertionError */
export async function driveSdk(
  { client, tool, input }: SeatedClient,
  example: string,
  { clients, sdks }: { readonly clients: string; readonly sdks: string },
  fixture: AgentFixture,
): Promise<{ readonly talk: Talk; readonly seconds: number }> {
  await using model = await modelServer(withTool(client.dialect, tool), plotOf(tool, input));
  const more = client.prepare(fixture, model.url);
  const bin = join(fixture.scratch.directory, 'programs');
  mkdirSync(bin);
  symlinkSync(join(clients, client.program), join(bin, client.id));
  const startedMs = performance.now();
  const main = fileURLToPath(new URL(`../../../../examples/${example}/main.mjs`, import.meta.url));
  const conditions = process.execArgv.filter((one) => one.startsWith('--conditions='));
  const child = spawn(process.execPath, ['--no-warnings', ...conditions, '--import', RESOLVER, main], {
    cwd: fixture.scratch.repository,
    env: {
      ...fixture.environment,
      PATH: `${bin}:${fixture.environment['PATH']}`,
      LITTERBOX_AGENT_SDKS: sdks,
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  const said = `${stdout}${stderr}`;
  assert.equal(model.talk.failure, undefined, said);
  assert.ok(model.talk.isOver, said);
  assert.equal(child.exitCode, 0, said);
  assert.match(stdout, /^The greeting is right\.\n1 /);
  return { talk: model.talk, seconds };
}

/** Corrects the greeting where the example's task says, and sees that it is corrected. */
function* plotOf(tool: string, input: SeatedClient['input']): Plot {
  const wrong = yield* calling(tool, input('sh greet.sh Ada'));
  mustMatch('the greeting', wrong, /Helo, Ada/);
  const right = yield* calling(tool, input(`sed -i 's/Helo/Hello/' greet.sh && sh greet.sh Ada`));
  mustMatch('the greeting as it is now', right, /Hello, Ada/);
  return 'The greeting is right.';
}
