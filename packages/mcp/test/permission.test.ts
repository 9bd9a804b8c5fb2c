import { describe, expect, it } from '@jest/globals';
import { ERAS } from '@litterbox/hardening/agent';
import { mcpFixture } from './mcp-fixture.ts';

const ELICITATION = { capabilities: { elicitation: { form: {} } } };

describe.each(ERAS)('what only a person may allow (%s)', (era) => {
  it('is asked at a client that can ask, and done when the person agrees', async () => {
    await using fixture = await mcpFixture({ era, client: ELICITATION });
    fixture.scratch.file('uncommitted.txt', 'mine\n');
    const questions: string[] = [];
    let allow = false;
    fixture.client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message);
      return { action: 'accept', content: { allow } };
    });
    expect(await fixture.code('sandbox-create', { name: 'a', from: 'worktree' })).toBe('PERMISSION_DENIED');
    expect((await fixture.person.list()).length).toBe(0);
    allow = true;
    const { facts } = await fixture.call('sandbox-create', { name: 'a', from: 'worktree' });
    expect(facts).toMatchObject({ name: 'a' });
    expect(await fixture.text('read', { sandbox: 'a', path: 'uncommitted.txt' })).toBe('mine\n');
    expect(questions).toHaveLength(2);
    expect(questions[0]).toContain('your uncommitted changes');
  });

  it('is refused when the person closes the question', async () => {
    await using fixture = await mcpFixture({ era, client: ELICITATION });
    fixture.client.setRequestHandler('elicitation/create', () => ({ action: 'cancel' }));
    expect(await fixture.code('sandbox-create', { name: 'a', from: 'worktree' })).toBe('PERMISSION_DENIED');
  });

  it('names the command that grants it at a client that cannot ask', async () => {
    await using fixture = await mcpFixture({ era });
    const { isError, text } = await fixture.call('sandbox-create', { name: 'a', from: 'worktree' });
    expect(isError).toBe(true);
    expect(text).toContain('litterbox create a --from worktree');
  });

  const NPM = { '.gitignore': 'node_modules\n', 'package.json': '{}', 'package-lock.json': '{}' };
  const MODULE = 'node_modules/tape/index.js';

  it('gives a new sandbox the dependencies of the working tree when the person agrees, and goes on without when not', async () => {
    await using fixture = await mcpFixture({ era, client: ELICITATION, files: NPM });
    fixture.scratch.file(MODULE, 'module\n');
    const questions: string[] = [];
    let answer: { action: 'cancel' } | { action: 'accept'; content: { allow: boolean } } = { action: 'cancel' };
    fixture.client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message);
      return answer;
    });
    const { facts: without } = await fixture.call('sandbox-create', { name: 'a' });
    expect(without).toMatchObject({
      name: 'a',
      note: expect.stringContaining('litterbox delete a && litterbox create a --include node_modules'),
    });
    expect(await fixture.code('read', { sandbox: 'a', path: MODULE })).toBe('NOT_FOUND');
    answer = { action: 'accept', content: { allow: true } };
    const { facts } = await fixture.call('sandbox-create', { name: 'b' });
    expect(facts).not.toHaveProperty('note');
    expect(await fixture.text('read', { sandbox: 'b', path: MODULE })).toBe('module\n');
    expect(questions).toHaveLength(2);
    expect(questions[0]).toContain('node_modules');
  });

  it('FC-200: goes on without dependencies at a client that says it can ask and shows nothing', async () => {
    await using fixture = await mcpFixture({ era, client: ELICITATION, files: NPM });
    fixture.scratch.file(MODULE, 'module\n');
    let asked = 0;
    const question = new Promise<void>((resolve) => {
      fixture.client.setRequestHandler('elicitation/create', () => {
        asked += 1;
        resolve();
        return new Promise<never>(() => {});
      });
    });
    fixture.call('sandbox-create', { name: 'a' }).catch(() => {}); // it ends with the client
    await question;
    const { facts } = await fixture.call('sandbox-create', { name: 'a' });
    expect(facts?.['note']).toContain('--include node_modules');
    expect(asked).toBe(1);
  });

  it('says what to ask the person for where dependencies are missing, at a client that cannot ask', async () => {
    await using fixture = await mcpFixture({ era, files: NPM });
    const { facts } = await fixture.call('sandbox-create', { name: 'a' });
    expect(facts?.['note']).toContain("litterbox create a --setup 'npm ci'");
    fixture.scratch.file(MODULE, 'module\n');
    const { facts: second } = await fixture.call('sandbox-create', { name: 'b' });
    expect(second?.['note']).toContain('litterbox create b --include node_modules');
  });
});
