import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AgentClient } from './agent-client.ts';
import type { AgentFixture } from './agent-fixture.ts';
import type { Dialect } from './dialect.ts';
import { modelServer, type Talk } from './model-server.ts';
import { calling, mustMatch, type Plot } from './plot.ts';
import { CHANGED_LINES, TASK } from './plots.ts';

const LIMIT_MS = 180_000;

/** A client whose own tools are what is tried: its hands are in a sandbox. */
export interface SeatedClient {
  readonly client: Pick<AgentClient, 'id' | 'title' | 'name' | 'program' | 'dialect' | 'prepare'>;
  /** Its tool that runs a command, and what a call of it says. */
  readonly tool: string;
  input(command: string): Readonly<Record<string, unknown>>;
  /** Its words for a task without a terminal. */
  args(task: string): readonly string[];
}

export interface SeatDrive {
  readonly talk: Talk;
  readonly said: string;
  readonly seconds: number;
}

/** How a client is started. */
export interface SeatStart {
  /** Options of `litterbox with` that say where the sandbox is made. */
  readonly place?: readonly string[];
  /** @defaultValue true */
  readonly hasGit?: boolean;
  /** With these words the client itself is started instead, once its hands are installed. */
  readonly installed?: readonly string[];
}

/** Lets the person's own client work by `litterbox with`, then reads and merges as the person. @throws AssertionError */
export async function driveSeat(
  { client, tool, input, args }: SeatedClient,
  install: string,
  fixture: AgentFixture,
  { place = [], hasGit = true, installed }: SeatStart = {},
): Promise<SeatDrive> {
  await using model = await modelServer(withTool(client.dialect, tool), plotOf(tool, input, hasGit));
  const more = client.prepare(fixture, model.url);
  symlinkSync(join(install, client.program), join(fixture.scratch.directory, 'bin', client.id));
  const { repository } = fixture.scratch;
  if (installed) {
    const written = fixture.litterbox('agent', 'install', client.id, '--hands', '--sandbox', 'mend-add', '--yes');
    assert.equal(written.status, 0, written.stderr);
  }
  const before = treeOf(fixture);
  const startedMs = performance.now();
  const seated = ['litterbox', 'with', client.id, '--sandbox', 'mend-add', ...place, '--'];
  const start = installed ? [client.id, ...installed] : seated;
  const [program = '', ...rest] = [...start, ...args(TASK)];
  const child = spawn(program, rest, {
    cwd: repository,
    env: { ...fixture.environment, ...more },
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
  if (!installed) assert.match(stderr, /left mend-add with one changed file[^]*Its last test passed/);
  assert.equal(treeOf(fixture), before, 'the agent touched the files of the person');

  const log = JSON.parse(fixture.litterbox('log', 'mend-add', '--json').stdout) as readonly object[];
  assert.ok(JSON.stringify(log).includes('call_1'), "the log has the agent's own numbers of its calls");
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

/** Sees the test fail in a project with dependencies, mends it by a command, sees it pass. */
export function* plotOf(tool: string, input: SeatedClient['input'], hasGit: boolean): Plot {
  const failed = yield* calling(tool, input('sh test.sh'));
  mustMatch('the test that fails', failed, /want 5, got -1/);
  const mended = yield* calling(tool, input("sed -i 's/ - / + /' add.sh && git diff --stat"));
  mustMatch('what git says of it', mended, hasGit ? /add\.sh \| 2 \+-/ : /git: (?:command )?not found/);
  const passed = yield* calling(tool, input('sh test.sh'));
  mustMatch('the test that passes', passed, /all tests pass/);
  return 'Mended.';
}

/** The dialect, with a tool of the client's own in the place of ours. */
export function withTool(dialect: Dialect, name: string): Dialect {
  return {
    ...dialect,
    read(body) {
      const asked = dialect.read(body);
      return { ...asked, tools: asked.tools.map((tool) => (tool.name === name ? { ...tool, ours: name } : tool)) };
    },
  };
}

/** Contents of the work tree, and what is in the home but the clients' own files. */
export function treeOf({ scratch, home }: AgentFixture): string {
  const script = `git status --porcelain; find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum; ls -A '${home}' | grep -vE '^[.](cache|claude|claude[.]json|codex|pi)$'`;
  return spawnSync('sh', ['-c', script], { cwd: scratch.repository, encoding: 'utf8' }).stdout;
}
