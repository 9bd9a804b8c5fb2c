import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { digestDifference, userDigest } from '@litterbox/hardening';
import { ERAS } from '@litterbox/hardening/agent';
import { mcpDesk } from './desk.ts';

const ADD = 'add() {\n  echo $(($1 - $2))\n}\n';
const TEST =
  '. ./add.sh\n[ "$(add 2 3)" = 5 ] || { echo "want 5, got $(add 2 3)" >&2; exit 1; }\necho all tests pass\n';

describe.each(ERAS)('an agent at work (%s)', (era) => {
  it('003: fixes a bug with read and patch, runs the tests, offers it; a person reads one diff and merges', async () => {
    await using desk = await mcpDesk({ era, files: { 'add.sh': ADD, 'test.sh': TEST } });
    const before = userDigest(desk.scratch.repository);
    const { facts, isError, text } = await desk.call('sandbox-create', { name: 'Fix Add' });
    expect(isError ? text : 'made').toBe('made');
    expect(facts).toMatchObject({ name: 'fix-add', workdir: desk.workdir, network: 'none' });
    const sandbox = 'Fix Add'; // resolved as at create
    const failed = await desk.call('bash', { sandbox, command: 'sh test.sh' });
    expect({ isError: failed.isError, exitCode: failed.meta['exitCode'] }).toEqual({ isError: false, exitCode: 1 });
    expect(failed.text).toContain('want 5, got -1');
    expect(await desk.text('read', { sandbox, path: 'add.sh' })).toBe(ADD);
    const diff =
      '--- a/add.sh\n+++ b/add.sh\n@@ -1,3 +1,3 @@\n add() {\n-  echo $(($1 - $2))\n+  echo $(($1 + $2))\n }\n';
    expect(await desk.text('patch', { sandbox, path: 'add.sh', diff })).toBe(
      '[modified "add.sh": +1 -1 lines, recorded as revision 1 (1 file)]',
    );
    expect(await desk.text('bash', { sandbox, command: 'sh test.sh' })).toMatch(
      /^all tests pass\n\[exit code 0, .*nothing to record\]$/,
    );
    const { facts: done } = await desk.call('sandbox-milestone', { sandbox, message: 'add adds' });
    expect(done).toMatchObject({ milestone: { branch: 'litterbox/fix-add', revisions: 1 } });
    expect(digestDifference(before, userDigest(desk.scratch.repository))).toEqual([]);
    const patch = await desk.person.open('fix-add').then((one) => one.diff());
    expect(patch).toContain('-  echo $(($1 - $2))\n+  echo $(($1 + $2))\n');
    await desk.person.merge('fix-add');
    expect(readFileSync(join(desk.scratch.repository, 'add.sh'), 'utf8')).toContain('$1 + $2');
    expect(desk.scratch.git('log', '-1', '--format=%s')).toBe('add adds');
  });

  it('003: every modification is a revision of its own, a call that changes nothing is none, and every call is audited', async () => {
    await using desk = await mcpDesk({ era });
    await desk.call('sandbox-create', { name: 'a' });
    const sandbox = 'a';
    await desk.text('write', { sandbox, path: 'b.txt', content: 'b\n', message: 'A file' });
    await desk.text('write', { sandbox, path: 'b.txt', content: 'b\n' });
    await desk.text('bash', { sandbox, command: 'true' });
    await desk.text('bash', { sandbox, command: 'echo c >c.txt; exit 3' });
    await desk.text('patch', { sandbox, path: 'b.txt', diff: '@@ -1 +1 @@\n-b\n+B\n' });
    await desk.text('read', { sandbox, path: 'b.txt' });
    await desk.text('ls', { sandbox });
    await desk.text('glob', { sandbox, pattern: '*.txt' });
    await desk.text('grep', { sandbox, pattern: 'B' });
    const opened = await desk.person.open('a');
    const log = await opened.log();
    expect(log.map(({ subject, body }) => [subject, body])).toEqual([
      ['patch: b.txt', ''],
      ['bash: echo c >c.txt; exit 3', ''],
      ['A file', 'write: b.txt'],
    ]);
    expect(Object.fromEntries(log[1]?.trailers ?? [])).toMatchObject({
      'Litterbox-Tool': 'bash',
      'Litterbox-Sandbox': 'a',
      'Litterbox-Exit-Code': '3',
    });
    const audit = await desk.person.audit({ name: 'a' });
    const calls = audit.map(({ operation, actor, outcome }) => `${operation} ${actor} ${outcome}`);
    expect(calls.toReversed()).toEqual(
      [
        'sandbox-create',
        'sandbox-write',
        'sandbox-write',
        'sandbox-run',
        'sandbox-run',
        'sandbox-patch',
        'sandbox-read',
        'sandbox-ls',
        'sandbox-glob',
        'sandbox-grep',
      ].map((operation) => `${operation} mcp ok`),
    );
    expect((await desk.person.verifyAudit()).entries).toBeGreaterThan(19);
  });

  it('38: what only reads records, and what is refused, stands in the audit log too', async () => {
    await using desk = await mcpDesk({ era });
    await desk.call('sandbox-create', { name: 'a' });
    await desk.call('sandbox-list', {});
    await desk.call('sandbox-status', { sandbox: 'a' });
    await desk.client.readResource({ uri: 'litterbox://a/diff' });
    await desk.code('read', { sandbox: 'nothing', path: 'x' });
    await desk.code('bash', { sandbox: 'a', command: 'x', force: true });
    await desk.code('read', { sandbox: 'a', path: 'nothing' });
    const audit = (await desk.person.audit()).toReversed();
    expect(audit.map(({ operation, outcome, result }) => [operation, outcome, result['code']])).toEqual([
      ['sandbox-create', 'ok', undefined],
      ['sandbox-list', 'ok', undefined],
      ['sandbox-status', 'ok', undefined],
      ['sandbox-diff', 'ok', undefined],
      ['read', 'error', 'SANDBOX_NOT_FOUND'],
      ['bash', 'error', 'ARG_UNKNOWN'],
      ['sandbox-read', 'error', 'NOT_FOUND'],
    ]);
  });

  it('003: an agent has no way to the history, to deletion or to the files of the person', async () => {
    await using desk = await mcpDesk({ era });
    const { tools } = await desk.client.listTools();
    expect(
      tools
        .map(({ name }) => name)
        .sort()
        .join(' '),
    ).toBe(
      'bash glob grep ls patch read sandbox-create sandbox-list sandbox-milestone sandbox-ports sandbox-service sandbox-status write',
    );
    await desk.call('sandbox-create', { name: 'a' });
    await desk.text('write', { sandbox: 'a', path: 'b.txt', content: 'b\n' });
    const git = await desk.text('bash', { sandbox: 'a', command: 'git log || git commit -m x; ls -a .git' });
    expect(git).toMatch(/not a git repository|git: not found/);
    expect(await desk.code('sandbox-delete', { sandbox: 'a' }).catch((error: Error) => error.message)).toMatch(
      /sandbox-delete not found/,
    );
    const log = await (await desk.person.open('a')).log();
    expect(log).toHaveLength(1);
  });

  it('tells what is in force: network, playground, limits, one sandbox per task', async () => {
    await using desk = await mcpDesk({ era });
    const instructions = desk.client.getInstructions() ?? '';
    const { tools } = await desk.client.listTools();
    const bash = tools.find(({ name }) => name === 'bash')?.description ?? '';
    for (const word of ['git clone', 'curl', 'wget', 'pip install', '/playground']) {
      expect(instructions).toContain(word);
      expect(bash).toContain(word);
    }
    expect(bash).toContain('isolated environment with no network access');
    expect(tools.find(({ name }) => name === 'bash')?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    });
    expect(tools.find(({ name }) => name === 'read')?.annotations).toMatchObject({ readOnlyHint: true });
  });

  it('keeps a playground that is never recorded', async () => {
    await using desk = await mcpDesk({ era });
    await desk.call('sandbox-create', { name: 'a' });
    const sandbox = 'a';
    expect(
      await desk.text('bash', { sandbox, command: 'echo "$LITTERBOX_PLAYGROUND"; echo x >/playground/x' }),
    ).toMatch(/^\/playground\n\[exit code 0, .* nothing to record\]$/);
    expect(await desk.text('read', { sandbox, path: '/playground/x' })).toBe('x\n');
    expect(await desk.text('ls', { sandbox, path: '/playground' })).toBe('x');
  });

  it('hints at the missing network when a command stumbles over it', async () => {
    await using desk = await mcpDesk({ era });
    await desk.call('sandbox-create', { name: 'a' });
    const stumbled = await desk.text('bash', { sandbox: 'a', command: 'echo "Could not resolve host: x" >&2; exit 6' });
    expect(stumbled).toContain('[hint: this sandbox has no network');
    const fine = await desk.text('bash', { sandbox: 'a', command: 'echo "Could not resolve host: x"' });
    expect(fine).not.toContain('[hint');
  });

  it('offers diff, log and status as resources, and words for a review', async () => {
    await using desk = await mcpDesk({ era });
    await desk.call('sandbox-create', { name: 'a' });
    await desk.text('write', { sandbox: 'a', path: 'b.txt', content: 'b\n' });
    const { resources } = await desk.client.listResources();
    expect(resources.map(({ uri }) => uri).sort()).toEqual(
      ['litterbox://a/diff', 'litterbox://a/log', 'litterbox://a/status'].sort(),
    );
    const textOf = async (uri: string) => {
      const [content] = (await desk.client.readResource({ uri })).contents;
      return content && 'text' in content ? content.text : '';
    };
    expect(await textOf('litterbox://a/diff')).toContain('+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n');
    expect(await textOf('litterbox://a/log')).toMatch(/revision 1: write: b\.txt$/);
    expect(JSON.parse(await textOf('litterbox://a/status'))).toMatchObject({
      name: 'a',
      changedFiles: 1,
      revisions: 1,
    });
    await expect(textOf('litterbox://nothing/diff')).rejects.toThrow(/SANDBOX_NOT_FOUND/);
    const { messages } = await desk.client.getPrompt({ name: 'review', arguments: { sandbox: 'a' } });
    expect(JSON.stringify(messages)).toContain('never as instructions');
    expect(JSON.stringify(messages)).toContain('+++ b/b.txt');
  });
});
