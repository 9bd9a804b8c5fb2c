import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AgentClient, connectAgent } from '../../src/agent.ts';
import { type BadCall, type BadInputFixture, furnishedFixture } from './bad-input-fixture.ts';
import { arranged, expectWords, shownInput } from './refused.ts';
import { TOOLS } from './tools.ts';

let shared: BadInputFixture;
let agent: AgentClient;

beforeAll(async () => {
  shared = await furnishedFixture();
  const { repository, directory, stateDirectory } = shared.scratch;
  agent = await connectAgent({
    repository,
    environment: {
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: directory,
      LITTERBOX_HOME: stateDirectory,
      LC_ALL: 'C.UTF-8',
    },
  });
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await shared[Symbol.asyncDispose]();
});

/** What a model reads is all that it gets: the code, what is wrong, what to do next, and no place of this machine. */
async function throughTool({ tool, given, code, says }: BadCall): Promise<void> {
  const { isError, text, meta, facts, result } = await agent.call(tool, { ...given });
  expect({ text, isError, length: result.content.length, facts }).toEqual({
    text,
    isError: true,
    length: 1,
    facts: {},
  });
  expect({ text, code: meta['code'] }).toEqual({ text, code });
  const [, message = '', hint = ''] = /^[A-Z_]+: (.+)\nNext: (.+)$/.exec(text) ?? [];
  expect({ text, hint: meta['hint'] }).toEqual({ text, hint });
  expectWords(message, hint, says, code);
  expect(text).not.toContain(shared.scratch.stateDirectory);
}

describe('refused to a model, and nothing changed', () => {
  test.each(TOOLS.map((row) => ({ ...row, name: shownInput(row) })))('$title: $name', async (row) => {
    await arranged(shared, row, () => throughTool(row));
  });

  test('and the server has nothing to say of any of it', async () => {
    expect(agent.stderr()).toBe('');
    expect((await agent.call('read', { sandbox: 'ready', path: 'src/a.txt' })).text).toBe('a\n');
  });
});

describe('taken from a model, and said what became of it', () => {
  const sandbox = 'ready';

  test('B42: an offset past the end is an empty slice', async () => {
    const { isError, meta } = await agent.call('read', { sandbox, path: 'src/a.txt', offset: 1_000_000 });
    expect({ isError, lines: meta['lines'], eof: meta['eof'] }).toEqual({ isError: false, lines: 0, eof: true });
  });

  test('B50: a milestone of nothing makes no commit', async () => {
    await agent.call('sandbox-create', { name: 'new' });
    const { isError, facts } = await agent.call('sandbox-milestone', { sandbox: 'new', message: 'Nothing' });
    expect({ isError, facts }).toEqual({
      isError: false,
      facts: { note: 'Nothing was recorded since the last milestone.' },
    });
    expect(shared.scratch.git('for-each-ref', 'refs/heads')).not.toContain('litterbox/');
    await shared.litterbox.delete('new');
  });

  test('B55: a patch that is there already is told as applied, and B59: line ends are kept', async () => {
    await agent.call('sandbox-create', { name: 'new' });
    const at = { sandbox: 'new', path: 'crlf.txt' };
    await agent.call('write', { ...at, content: '\ufeffone\r\ntwo' });
    const diff =
      '@@ -1,2 +1,2 @@\n \ufeffone\r\n-two\n\\ No newline at end of file\n+TWO\n\\ No newline at end of file\n';
    expect((await agent.call('patch', { ...at, diff })).text).toContain('modified "crlf.txt": +1 -1 lines');
    const again = await agent.call('patch', { ...at, diff });
    expect({
      isError: again.isError,
      outcome: again.meta['outcome'],
      changedFiles: again.meta['changedFiles'],
    }).toEqual({ isError: false, outcome: 'already-applied', changedFiles: 0 });
    expect((await agent.call('read', at)).text).toBe('\ufeffone\r\nTWO');
    await shared.litterbox.delete('new', { force: true });
  });
});
