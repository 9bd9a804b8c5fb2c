import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { CliFixture } from './cli-fixture.ts';

let scratch: CliFixture;
let page: ChildProcess;
let origin = '';
let session = '';

beforeAll(async () => {
  scratch = new CliFixture();
  writeFileSync(join(scratch.repository, 'many.txt'), Array.from({ length: 40 }, (_, at) => `${at + 1}\n`).join(''));
  scratch.git('add', '-A');
  scratch.git('commit', '-qm', 'many');
  await scratch.run(['create', 'one']);
  await scratch.run(['run', 'one', "echo b >> a.txt; echo '{}' > .envrc; echo new > new.txt; echo done"]);
  page = scratch.start(['review', 'one', '--no-open', '--json']);
  const [bytes] = (await once(page.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const { address } = JSON.parse(bytes.toString()) as { readonly address: string };
  const link = new URL(address);
  origin = link.origin;
  session = ((await ask('/api/session', {}, link.hash.slice(1))) as { readonly session: string }).session;
});
afterAll(async () => {
  page.kill('SIGINT');
  const [code] = (await once(page, 'exit')) as [number | null];
  await scratch[Symbol.asyncDispose]();
  expect(code).toBe(130);
});

/** As the page asks: with a body it is a POST. */
async function ask(path: string, body?: object, token = session): Promise<unknown> {
  const answer = await fetch(origin + path, {
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json', origin }) },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return answer.headers.get('content-type')?.includes('ndjson')
    ? text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    : (JSON.parse(text) as unknown);
}

describe('litterbox review', () => {
  it('shows what is in the sandbox, and takes what was shown', async () => {
    expect(await ask('/api/sandboxes')).toMatchObject({ sandboxes: [{ name: 'one', work: { files: 3 } }] });
    const lines = (await ask('/api/sandboxes/one/diff')) as readonly [
      { tip: string },
      ...{ file?: { path: string } }[],
    ];
    const [{ tip }, ...rest] = lines;
    expect(rest.flatMap(({ file }) => file?.path ?? [])).toEqual(['.envrc', 'a.txt', 'new.txt']);
    expect(rest.at(-1)).toEqual({ end: true });
    const { entries } = (await ask('/api/sandboxes/one/calls')) as { entries: { call: number }[] };
    expect(await ask(`/api/sandboxes/one/calls/${entries[0]?.call}`)).toMatchObject({
      exitCode: 0,
      stdout: { head: 'done\n' },
    });
    const blame = (await ask('/api/sandboxes/one/blame', { path: 'a.txt' })) as { runs: unknown[] };
    expect(blame.runs).toMatchObject([{ firstLine: 2, lines: 1, call: entries[0]?.call }]);
    const plan = await ask('/api/sandboxes/one/plan', { integration: 'apply', paths: ['.envrc'] });
    expect(plan).toMatchObject({ tip, risks: { files: 1 }, conflicts: [] });

    // The refusals of the command line, and nothing is asked in the terminal.
    const risky = await ask('/api/sandboxes/one/apply', { tip, paths: ['.envrc'] });
    expect(risky).toMatchObject({ error: { code: 'RISKY_CHANGES' } });
    expect(scratch.git('status', '--short')).toBe('');
    const taken = await ask('/api/sandboxes/one/apply', { tip, paths: ['a.txt'] });
    expect(taken).toMatchObject({ outcome: 'staged', isDeleted: false });
    expect(scratch.git('status', '--short')).toBe('M  a.txt');

    await scratch.run(['run', 'one', 'echo later > later.txt']);
    const late = await ask('/api/sandboxes/one/apply', { tip, paths: [], acceptRisky: true });
    expect(late).toMatchObject({ error: { code: 'CHANGED_SINCE_SHOWN' } });
    const [{ since }] = (await ask('/api/sandboxes/one/diff')) as [{ since: unknown }];
    expect(since).toEqual({ tip, paths: ['later.txt'] });
    expect(await ask('/api/sandboxes/one/diff?part=since')).toMatchObject([
      { file: { path: 'later.txt' } },
      { end: true },
    ]);
  });

  it('settles a conflict before anything is done, and takes exactly that', async () => {
    scratch.git('reset', '--hard', '-q');
    scratch.git('commit', '-q', '--allow-empty', '-m', 'before');
    writeFileSync(join(scratch.repository, 'a.txt'), 'mine\n');
    scratch.git('commit', '-qam', 'mine');
    const [{ tip }] = (await ask('/api/sandboxes/one/diff')) as readonly [{ tip: string }];
    const apply = { integration: 'apply', paths: ['a.txt'], tip };
    const plan = await ask('/api/sandboxes/one/plan', apply);
    expect(plan).toMatchObject({ conflicts: [{ path: 'a.txt', name: 'a.txt' }] });
    const file = (await ask('/api/sandboxes/one/conflict', { ...apply, path: 'a.txt' })) as { digest: string };
    expect(file).toMatchObject({ name: 'a.txt', tip, parts: [{ ours: { exact: 'mine\n' } }] });
    expect(scratch.git('status', '--short')).toBe('');
    const settled = [{ path: 'a.txt', digest: file.digest, text: 'mine and b' }];
    for (const wrong of [[{ ...settled[0], digest: '0'.repeat(64) }], [{ ...settled[0], take: 'ours' }], ['a.txt']])
      expect(await ask('/api/sandboxes/one/apply', { ...apply, settled: wrong })).toHaveProperty('error');
    expect(await ask('/api/sandboxes/one/apply', { ...apply, settled })).toMatchObject({ outcome: 'staged' });
    expect(readFileSync(join(scratch.repository, 'a.txt'), 'utf8')).toBe('mine and b');
    scratch.git('reset', '--hard', '-q', 'HEAD~2');
  });

  it('takes hunks that it showed, one after the other, and none that it did not show', async () => {
    await scratch.run(['run', 'one', "sed -i 's/^2$/TWO/; s/^30$/THIRTY/' many.txt"]);
    const [{ tip }, ...lines] = (await ask('/api/sandboxes/one/diff')) as readonly [
      { tip: string },
      ...{ file?: { path: string; digest?: string; hunks: { firstChange: number }[] } }[],
    ];
    const file = lines.find((line) => line.file?.path === 'many.txt')?.file;
    expect(file?.hunks.map(({ firstChange }) => firstChange)).toEqual([0, 1]);
    const parts = [{ path: 'many.txt', digest: file?.digest, changes: [1] }];
    expect(await ask('/api/sandboxes/one/plan', { integration: 'apply', parts })).toMatchObject({ files: 1 });
    for (const wrong of [[{ ...parts[0], digest: 'x' }], [{ path: 'many.txt' }], ['many.txt']])
      expect(await ask('/api/sandboxes/one/apply', { tip, parts: wrong })).toHaveProperty('error');
    expect(scratch.git('diff', '--cached', '--name-only', 'many.txt')).toBe('');
    expect(await ask('/api/sandboxes/one/apply', { tip, parts })).toMatchObject({ outcome: 'staged' });
    expect(scratch.git('diff', '--cached', '-U0', 'many.txt')).toMatch(/-30\n\+THIRTY$/);
    expect(scratch.git('diff', '--cached', '-U0', 'many.txt')).not.toContain('TWO');
    scratch.git('commit', '-qm', 'thirty');
    expect(await ask('/api/sandboxes/one/apply', { tip, parts })).toMatchObject({ outcome: 'up-to-date' });
    const first = [{ ...parts[0], changes: [0] }];
    expect(await ask('/api/sandboxes/one/apply', { tip, parts: first })).toMatchObject({ outcome: 'staged' });
    expect(scratch.git('diff', '--cached', '-U0', 'many.txt')).toMatch(/-2\n\+TWO$/);
    const others = [{ ...parts[0], digest: '0'.repeat(64) }];
    expect(await ask('/api/sandboxes/one/apply', { tip, parts: others })).toMatchObject({
      error: { code: 'CHANGED_SINCE_SHOWN', hint: expect.stringContaining('litterbox apply one many.txt') },
    });
  });

  it('AX168: trace is a note of git, whatever the names', async () => {
    await scratch.run(['run', 'one', 'echo text > "$(printf "odd\\033[2J")"']);
    const { stdout, code } = await scratch.run(['trace', 'one']);
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('\u001b')]);
    const { files } = JSON.parse(stdout) as { files: { path: string; conversations: object[] }[] };
    expect(files.find(({ path }) => path === 'odd\u001b[2J')?.conversations).toEqual([
      { contributor: { type: 'unknown' }, ranges: [{ start_line: 1, end_line: 1 }] },
    ]);
    writeFileSync(join(scratch.repository, '.git/note'), stdout);
    scratch.git('notes', '--ref', 'agent-trace', 'add', '-F', '.git/note', 'HEAD');
    expect(JSON.parse(scratch.git('notes', '--ref', 'agent-trace', 'show', 'HEAD'))).toHaveProperty('files');
  });

  it('is about the one sandbox that it was opened for', async () => {
    await scratch.run(['create', 'two']);
    expect(await ask('/api/sandboxes')).toMatchObject({ sandboxes: [{ name: 'one' }] });
    for (const path of ['/api/sandboxes/two/diff', '/api/sandboxes/two/calls', '/api/sandboxes/none'])
      expect(await ask(path)).toMatchObject({ error: { code: 'NOT_FOUND' } });
    expect(await ask('/api/sandboxes/two/merge', { tip: '1' })).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('AX145: gives the browser a file that its person alone reads, and no link in its words', async () => {
    const folder = join(scratch.repository, '..');
    const opened = join(folder, 'opened');
    const script = `#!/bin/sh\nfile=\${1#file://}\n{ echo "$*"; stat -c %a "$file" "$(dirname "$file")"; cat "$file"; } >${opened}.new\nmv ${opened}.new ${opened}\n`;
    writeFileSync(join(folder, 'xdg-open'), script, { mode: 0o755 });
    const shown = scratch.startInTerminal(['review', 'one'], { PATH: `${folder}:${scratch.environment['PATH']}` });
    let said = '';
    shown.stdout?.setEncoding('utf8').on('data', (part: string) => (said += part));
    const text = await eventually(
      async () => existsSync(opened) && readFileSync(opened, 'utf8'),
      (found) => found !== false,
    );
    const [words = '', mode, modeOfFolder, page = ''] = String(text).split('\n');
    const [link = ''] = /http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}/.exec(said) ?? [];
    expect(link).not.toBe('');
    expect(words).toMatch(/^file:\/\/\S+\.html$/);
    expect([mode, modeOfFolder]).toEqual(['600', '700']);
    expect(page).toContain(link);
    shown.stdin?.write('\u0003');
    await once(shown, 'exit');
    expect(existsSync(words.slice('file://'.length))).toBe(false);
  });
});
