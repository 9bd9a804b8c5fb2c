import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { agentsOf } from '@litterbox/core';
import { makeCertificate } from '@litterbox/testing';
import type { AgentFixture } from './agent-fixture.ts';
import { plotOf, type SeatDrive, type SeatedClient, withTool } from './drive-seat.ts';
import { editInside } from './edit-inside.ts';
import { modelServer, type Talk } from './model-server.ts';
import { isContainer, type Place } from './place-on.ts';
import { placeInside } from './place-inside.ts';
import { CHANGED_LINES, TASK } from './plots.ts';

const LIMIT_MS = 240_000;
/** The plot has so many; each costs one token in and one out. */
const TURNS = 4;
/** Nowhere inside: it is searched for. */
const KEY = 'sk-real-canary-0123456789abcdef';
const KINDS = {
  anthropic: { header: 'x-api-key', value: KEY },
  openai: { header: 'authorization', value: `Bearer ${KEY}` },
  gemini: { header: 'x-goog-api-key', value: KEY },
} as const;

/** An agent that Litterbox runs inside. */
export type InsideClient = Pick<SeatedClient, 'tool' | 'input'> & {
  readonly client: Pick<SeatedClient['client'], 'id' | 'title' | 'name' | 'program' | 'dialect'>;
  readonly kind: keyof typeof KINDS;
  /** Lines below its table: the model here has none of the names that it knows. */
  readonly table?: string;
};

/**
 * Lets the agent's own program work inside by `litterbox agent run`, then reads and merges as the person.
 *
 * @param isEdited an editor speaks with it, by `litterbox acp`
 * @throws AssertionError
 */
export async function driveInside(
  { client, tool, input, kind, table = '' }: InsideClient,
  install: string,
  fixture: AgentFixture,
  place: Place,
  isEdited = false,
): Promise<SeatDrive> {
  const where = await placeInside(fixture, place, client, install);
  const certificate = makeCertificate();
  const outside = { certificate, ...KINDS[kind] };
  const plot = plotOf(tool, input, !isContainer(place));
  await using model = await modelServer(withTool(client.dialect, tool), plot, undefined, outside);
  const { directory, repository } = fixture.scratch;
  const ca = join(directory, 'ca.pem');
  writeFileSync(ca, certificate.cert);
  writeFileSync(
    join(repository, '.litterbox.toml'),
    `[secrets]\nKEY = { environment = "MODEL_KEY" }\n[endpoints.model]\nkind = "${kind}"\nurl = "${model.url}"\nsecret = "KEY"\n${table}`,
  );
  const trusted = fixture.litterbox('trust', '--yes');
  assert.equal(trusted.status, 0, trusted.stderr);
  const startedMs = performance.now();
  const outer = { MODEL_KEY: KEY, NODE_EXTRA_CA_CERTS: ca };
  const { code, said } = isEdited
    ? await editInside(client.id, fixture, where, outer, LIMIT_MS)
    : await runInside(client.id, fixture, where, outer);
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  assert.equal(model.talk.failure, undefined, said);
  assert.ok(model.talk.isOver, `${model.talk.requests.join('\n')}\n${said}`);
  assert.equal(code, 0, said);
  if (!isEdited) await checkRun(client.id, said, () => runInside(client.id, fixture, [], outer), model.talk);
  const { endpoints: usage } = JSON.parse(fixture.litterbox('cost', 'mend-add', '--json').stdout) as {
    readonly endpoints: readonly { requests: number }[];
  };
  assert.ok((usage[0]?.requests ?? 0) >= 4, JSON.stringify(usage));
  const look = `grep -rlaE 'sk-real-[c]anary' ~ /tmp "$PWD" /proc/*/environ /proc/*/cmdline 2>/dev/null; true`;
  assert.equal(fixture.litterbox('run', 'mend-add', look).stdout, '');
  assert.equal(execFileSync('sh', ['-c', `grep -rlaF "$0" "$1" || true`, KEY, directory], { encoding: 'utf8' }), '');
  const diff = fixture.litterbox('diff', 'mend-add').stdout.split('\n');
  assert.deepEqual(
    diff.filter((line) => /^(diff |[-+](?!-- |\+\+ ))/.test(line)),
    ['diff --git a/add.sh b/add.sh', ...CHANGED_LINES],
  );
  const merged = fixture.litterbox('merge', 'mend-add');
  assert.equal(merged.status, 0, merged.stderr);
  assert.equal(spawnSync('sh', ['test.sh'], { cwd: repository, env: fixture.environment }).status, 0);
  return { talk: model.talk, said, seconds };
}

interface Ran {
  readonly code: number | null;
  readonly said: string;
}

/** What a run says at its end is right, and it goes on where it worked. @throws AssertionError */
async function checkRun(id: string, said: string, runAgain: () => Promise<Ran>, talk: Talk): Promise<void> {
  assert.match(said, /left mend-add with one changed file/);
  const counted = `by its own count with ${TURNS} tokens in and ${TURNS} out`;
  assert.equal(said.includes(counted), agentsOf({})[id]?.tokens !== undefined, said);
  const again = await runAgain(); // the model says the same, and what the agent kept of itself is in its way nowhere
  assert.deepEqual([again.code, talk.failure], [0, undefined], again.said);
}

async function runInside(
  id: string,
  { scratch, environment }: AgentFixture,
  where: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<Ran> {
  const child = spawn('litterbox', ['agent', 'run', id, '--sandbox', 'mend-add', ...where, '--', TASK], {
    cwd: scratch.repository,
    env: { ...environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
  });
  const closed = once(child, 'close');
  const said = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code: child.exitCode, said: said.slice(0, 2).join('') };
}
