import { expect } from '@jest/globals';
import { type AttackFixture, CANARY_VARIABLE } from '../../src/index.ts';
import { type AgentClient, type AgentClientOptions, type Answer, connectAgent } from '../../src/agent.ts';
import { attack } from './attack.ts';

/** A hostile model at a real client of a real server. All that the server says is searched for secrets. */
export interface Agent extends AgentClient {
  /** A call that has to work; its text. */
  text(name: string, input: Record<string, unknown>): Promise<string>;
  /** A call that has to be refused; its code. */
  code(name: string, input: Record<string, unknown>): Promise<string>;
  /** Either: `refused: CODE`, or the text. */
  seen(name: string, input: Record<string, unknown>): Promise<string>;
  bash(command: string, more?: Record<string, unknown>): Promise<Answer>;
}

/** The sandbox that agents of these tests work in. */
export const SANDBOX = 'a';

/** One more agent on the fixture, with the person's home and secrets in the environment of its server. */
export async function agentOn(
  fixture: AttackFixture,
  options: Pick<AgentClientOptions, 'args' | 'era' | 'client'> & { readonly repository?: string } = {},
): Promise<Agent> {
  const secret = fixture.canaries.find(({ place }) => place === 'environment')?.secret ?? '';
  const agent = await connectAgent({
    repository: fixture.scratch.repository,
    environment: {
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: fixture.home,
      LITTERBOX_HOME: fixture.scratch.stateDirectory,
      LC_ALL: 'C.UTF-8',
      [CANARY_VARIABLE]: secret,
    },
    onHeard: (where, text) => fixture.hear(where, text),
    ...options,
  });
  fixture.giveSecretsTo(agent.pid);
  const seen: Agent['seen'] = async (name, input) => {
    const { isError, text, meta } = await agent.call(name, input);
    return isError ? `refused: ${String(meta['code'])}` : text;
  };
  return {
    ...agent,
    seen,
    async text(name, input) {
      const { isError, text } = await agent.call(name, input);
      expect({ name, input, isError: isError ? text : 'done' }).toEqual({ name, input, isError: 'done' });
      return text;
    },
    async code(name, input) {
      const answer = await seen(name, input);
      expect({ name, input, answer }).toEqual({ name, input, answer: expect.stringMatching(/^refused: /) });
      return answer.slice('refused: '.length);
    },
    bash: (command, more = {}) => agent.call('bash', { sandbox: SANDBOX, command, ...more }),
    async [Symbol.asyncDispose]() {
      // What clients ask for by themselves is searched too.
      const { tools } = await agent.client.listTools();
      const { resources } = await agent.client.listResources();
      for (const { uri } of resources) await agent.client.readResource({ uri }).catch(() => {});
      if (tools.some(({ name }) => name === 'sandbox-list'))
        await agent.client.getPrompt({ name: 'review', arguments: { sandbox: SANDBOX } }).catch(() => {});
      await agent[Symbol.asyncDispose]();
    },
  };
}

/**
 * An attack through the tools: as `attack`, and what it achieved is looked for while the server and the sandboxes still run too,
 * so that their environments and arguments are searched.
 */
export function attackByAgent(
  title: string,
  body: (fixture: AttackFixture, agent: Agent) => Promise<void>,
  options?: Parameters<typeof agentOn>[1],
): void {
  attack(title, async (fixture) => {
    await using agent = await agentOn(fixture, options);
    await agent.text('sandbox-create', { name: SANDBOX });
    await body(fixture, agent);
    expect(await fixture.achieved()).toEqual([]);
  });
}
