import assert from 'node:assert/strict';
import type { AgentClient, Limit } from './agent-client.ts';
import type { Drive } from './drive.ts';
import type { AgentFixture } from './agent-fixture.ts';

const TOOLS =
  'bash edit glob grep ls patch read sandbox-create sandbox-list sandbox-milestone sandbox-ports sandbox-service sandbox-status write'.split(
    ' ',
  );

/** That the client did what the plot wanted, in the protocol and under the limits that it should. @throws AssertionError */
export function checkDrive(client: AgentClient, limit: Limit, fixture: AgentFixture, drive: Drive): void {
  const { talk, exitCode, stderr } = drive;
  assert.equal(talk.failure, undefined, talk.failure);
  assert.ok(talk.isOver, `the client left after ${talk.turns.length} turns: ${stderr}`);
  assert.equal(exitCode, 0, stderr);
  assert.equal(eraOf(fixture), client.era, 'the protocol that the client speaks');
  assert.deepEqual(talk.tools.flatMap(({ ours }) => ours ?? []).sort(), TOOLS, 'the tools that the model is offered');
  for (const { name, ours } of talk.tools)
    assert.equal(ours === undefined || name === client.shows(ours), true, `${ours} is shown as ${name}`);
  assert.deepEqual(
    talk.tools.filter(({ name, ours }) => ours === undefined && !limit.allows(name)),
    [],
    `what ${limit.args.join(' ')} leaves of the client's own tools`,
  );
  assert.deepEqual(
    talk.requests.filter((one) => !client.dialect.wantsTurn(...asMethodAndPath(one)) && !client.asks.includes(one)),
    [],
    'requests that nobody expects',
  );
}

export function eraOf(fixture: AgentFixture): AgentClient['era'] {
  return fixture.sent().some(({ method }) => method === 'initialize') ? 'legacy' : 'modern';
}

function asMethodAndPath(request: string): [string, string] {
  const [method = '', path = ''] = request.split(' ');
  return [method, path];
}
