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
    expect(text).toContain('litterbox create "a" --from worktree');
  });
});
