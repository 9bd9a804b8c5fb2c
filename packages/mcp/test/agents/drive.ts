import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AgentClient, Limit } from './agent-client.ts';
import { modelServer, type Talk } from './model-server.ts';
import type { Plot } from './plot.ts';
import { TASK } from './plots.ts';
import type { AgentFixture } from './agent-fixture.ts';

/** A client that hangs is a failure, not a run without an end. */
const LIMIT_MS = 180_000;

/** What a client did. */
export interface Drive {
  readonly talk: Talk;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

/** Lets the real client work on the task, with a model that follows the plot. */
export async function drive(
  client: AgentClient,
  install: string,
  { limit, plot, fixture }: { readonly limit: Limit; readonly plot: Plot; readonly fixture: AgentFixture },
): Promise<Drive> {
  await using model = await modelServer(client.dialect, plot);
  const more = client.prepare(fixture, model.url);
  const installed = fixture.litterbox('agent', 'install', client.id, '--yes');
  if (installed.status !== 0) throw new Error(`litterbox agent install ${client.id}: ${installed.stderr}`);
  const startedMs = performance.now();
  const child = spawn(join(install, client.program), [...client.args(fixture, TASK), ...limit.args], {
    cwd: fixture.scratch.repository,
    env: { ...fixture.environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return {
    talk: model.talk,
    exitCode: child.exitCode,
    stdout,
    stderr,
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
  };
}
