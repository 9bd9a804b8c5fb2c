import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type McpFixture, mcpFixture } from './mcp-fixture.ts';

const sandbox = 'a';
let fixture: McpFixture;

beforeAll(async () => {
  fixture = await mcpFixture({
    files: { 'src/a.txt': 'a\n', 'src/b.ts': 'export const b = 1;\n', '.gitignore': 'ignored/\n' },
  });
  await fixture.call('sandbox-create', { name: sandbox });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

const bash = async (command: string, more: Record<string, unknown> = {}) =>
  await fixture.call('bash', { sandbox, command, ...more });

describe('bash', () => {
  it('keeps stdout, stderr and the exit code apart', async () => {
    const answer = await bash('echo out; echo err >&2; exit 3');
    expect(answer.text).toMatch(
      /^out\n\[stderr\]\nerr\n\[exit code 3, \d+\.\d s(?:, by sh because there is no bash)?, nothing to record\]$/,
    );
    expect(answer.meta).toMatchObject({ exitCode: 3, timedOut: false });
    expect(answer.isError).toBe(false);
    const alike = await bash("printf 'out\\n[stderr]\\nout too\\n'; echo err >&2");
    expect(alike.text.slice(0, alike.meta['stdoutCharacters'] as number)).toBe('out\n[stderr]\nout too');
  });

  it('starts in a directory, relative or absolute, and refuses one that is not there', async () => {
    expect((await bash('pwd', { workdir: 'src' })).text).toContain(`${fixture.workdir}/src\n`);
    expect((await bash('pwd', { workdir: '/playground' })).text).toContain('/playground\n');
    expect(await fixture.code('bash', { sandbox, command: 'pwd', workdir: 'nowhere' })).toBe('NOT_FOUND');
    expect(await fixture.code('bash', { sandbox, command: 'pwd', workdir: '/src; id' })).toBe('NOT_FOUND');
  });

  it('ends the whole tree at the timeout and keeps what it printed until then', async () => {
    const answer = await bash('echo early; sleep 300 & sleep 300', { timeout: 500 });
    expect(answer.text).toContain('early\n[timed out after');
    expect(answer.text).toContain('[hint: give a longer timeout');
    expect(answer.meta).toMatchObject({ timedOut: true });
    expect((await bash("ps ax | grep -c '[s]leep 300'")).text).toMatch(/^0\n/);
  });

  it('ends the whole tree when the client takes the call back, and records what it did', async () => {
    const controller = new AbortController();
    const going = fixture.call(
      'bash',
      { sandbox, command: 'echo x >cancelled.txt; echo started; sleep 301' },
      { signal: controller.signal, onprogress: () => controller.abort(new Error('taken back')) },
    );
    await expect(going).rejects.toThrow(/taken back/);
    // FC-05: a client that gives up after a minute does the same.
    const next = (await bash('true')).text;
    const [, file = ''] =
      /\[note: the client took the command before back after \d+ s, .+ is in (\S+)\. Run/.exec(next) ?? [];
    expect((await bash(`cat ${file}`)).text).toMatch(/^started\n\[exit code 0, [^\n]+\]$/);
    expect((await bash("ps ax | grep -c '[s]leep 301'")).text).toMatch(/^0\n/);
    expect(await fixture.text('read', { sandbox, path: 'cancelled.txt' })).toBe('x\n');
    const log = await (await fixture.person.open(sandbox)).log();
    expect(log.some(({ subject }) => subject.startsWith('bash: echo x >cancelled.txt'))).toBe(true);
  });

  it('tells how it goes on while it goes on', async () => {
    const heard: string[] = [];
    let release = () => {};
    const first = new Promise<void>((resolve) => (release = resolve));
    const going = fixture.call(
      'bash',
      { sandbox, command: 'echo one; until [ -e /tmp/go ]; do sleep 0.05; done; rm /tmp/go; echo two' },
      {
        onprogress: ({ message }) => {
          heard.push(message ?? '');
          release();
        },
      },
    );
    await first;
    // Not by bash: calls in one sandbox that may change files follow each other.
    const other = await fixture.person.attach({ sandbox, command: ['touch', '/tmp/go'] });
    await other.process.exit;
    expect((await going).text).toMatch(/^one\ntwo\n/);
    await other.finish({ code: 0 });
    expect(heard[0]).toBe('one');
  });

  it('lets a command go on in the background, and tells at once of one that ends', async () => {
    const tick = 'echo up; (while :; do echo tick >>/playground/ticks; sleep 0.1; done) & sleep 1000';
    const { text, meta } = await bash(tick, { background: true });
    const told = /^up\n\[goes on in the background; its output is in (\S+); end it with kill -- (-?\d+)\]$/.exec(text);
    expect({ text, isTold: told !== null, exitCode: meta['exitCode'] }).toEqual({ text, isTold: true, exitCode: 0 });
    expect((await bash(`cat ${told?.[1]}`)).text).toContain('up\n');
    const count = 'wc -l </playground/ticks';
    const grows = `n=$(${count}); until [ "$(${count})" -gt "$n" ]; do sleep 0.1; done`;
    expect((await bash(grows)).meta['exitCode']).toBe(0); // call after call
    await bash(`kill -- ${told?.[2]}; until ! pgrep -f 'sleep 1000'; do sleep 0.1; done`);
    expect((await bash(`n=$(${count}); sleep 0.5; [ "$(${count})" = "$n" ]`)).meta['exitCode']).toBe(0); // all of it
    const failed = await bash('echo bad >&2; exit 7', { background: true });
    expect(failed.text).toMatch(/^bad\n\[exit code 7, 1\.\d s/);
    expect((await bash('if true; then', { background: true })).meta['exitCode']).not.toBe(0);
    const [newest] = await (await fixture.person.open(sandbox)).log();
    expect(newest?.body ?? '').not.toContain('lb_');
  });

  it('puts long output into a file that read pages, and folds what repeats', async () => {
    const answer = await bash('i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done');
    expect(answer.text.length).toBeLessThan(30_000);
    expect(answer.text.startsWith('line 0\n')).toBe(true);
    expect(answer.text).toContain('line 19999\n');
    const file = String(answer.meta['outputFile']);
    expect(answer.text).toContain(`all of it is in ${file}: read it part by part`);
    expect(await fixture.text('read', { sandbox, path: file, offset: 10_000, limit: 2 })).toMatch(
      /^line 10000\nline 10001\n/,
    );
    const folded = (await bash('yes | head -n 10000')).text;
    expect(folded.length).toBeLessThan(200);
    expect(folded).toContain('9999 more times');
  });

  it('cuts ten gigabytes', async () => {
    const answer = await bash(
      'yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | head -c 200000000; echo end',
    );
    expect(answer.text.length).toBeLessThan(30_000);
    expect(answer.text).toContain('end\n');
  });
});

describe('read', () => {
  it('gives lines from an offset, and says how to go on', async () => {
    await bash('seq 0 4999 >numbers.txt');
    const first = await fixture.call('read', { sandbox, path: 'numbers.txt' });
    expect(first.result.content).toHaveLength(2);
    expect(first.text.startsWith('0\n1\n2\n')).toBe(true);
    expect(first.text).toContain('[lines 1 to 2000; the file has 5000 lines, 23890 bytes; go on with offset 2000]');
    expect(first.meta).toMatchObject({ truncated: true, eof: false, lines: 2000, fileLines: 5000 });
    const last = await fixture.call('read', { sandbox, path: 'numbers.txt', offset: 4999, limit: 10 });
    expect({ text: last.text, eof: last.meta['eof'] }).toEqual({ text: '4999\n', eof: true });
    const past = await fixture.call('read', { sandbox, path: 'numbers.txt', offset: 5000 });
    expect({ isError: past.isError, text: past.text }).toEqual({
      isError: false,
      text: '\n[no line 5001: the file has 5000 lines, 23890 bytes]',
    });
    expect(past.meta).toMatchObject({ eof: true, lines: 0 });
  });

  it('counts lines as grep and patch do, and skips as many as offset says', async () => {
    await bash("printf 'a\\nb\\nc\\nd\\n' >four.txt");
    const found = await fixture.text('grep', { sandbox, pattern: 'c', path: 'four.txt' });
    expect(found).toBe('four.txt\n3: c');
    const read = await fixture.text('read', { sandbox, path: 'four.txt', offset: 2, limit: 1 });
    expect(read).toBe('c\n\n[lines 3 to 3; the file has 4 lines, 8 bytes; go on with offset 3]');
    const refused = await fixture.call('patch', { sandbox, path: 'four.txt', diff: '@@ -3 +3 @@\n-x\n+y\n' });
    expect(refused.text).toContain('line 3 should be "x", but is "c"');
  });

  it('gives bytes as base64 when that is asked for, and takes them back', async () => {
    await bash("printf '\\000\\377\\r\\nx' >bytes.bin");
    expect(await fixture.text('read', { sandbox, path: 'bytes.bin' })).toBe(
      '[not text, 5 bytes; begins with 00ff0d0a78 (hexadecimal); iconv in bash converts text; for the bytes give encoding "base64"]',
    );
    const answer = await fixture.call('read', { sandbox, path: 'bytes.bin', encoding: 'base64' });
    expect(answer.meta).toMatchObject({ encoding: 'base64' });
    const [first] = answer.result.content;
    const base64 = first?.type === 'text' ? first.text : '';
    expect([...Buffer.from(base64, 'base64')]).toEqual([0, 255, 13, 10, 120]);
    await fixture.text('write', { sandbox, path: 'copy.bin', content: base64, encoding: 'base64' });
    expect((await bash('cmp bytes.bin copy.bin && rm bytes.bin copy.bin && echo same')).text).toMatch(/^same\n/);
  });

  it('FC-36: a file that is not UTF-8 is shown as text, and what is no text is named, not poured out', async () => {
    await bash(
      "printf '/* caf\\351 */\\nint x;\\n' >l1.c; printf '\\377\\376a\\0\\n\\0' >u16; head -c 2000000 /dev/urandom >data",
    );
    expect(await fixture.text('read', { sandbox, path: 'l1.c' })).toBe(
      '/* caf\ufffd */\nint x;\n\n[1 times \ufffd stands for what is not UTF-8 text; edit keeps those bytes]',
    );
    expect(await fixture.text('read', { sandbox, path: 'u16' })).toMatch(
      /^\[text in UTF-16, 6 bytes; .* iconv in bash /,
    );
    const data = await fixture.text('read', { sandbox, path: 'data' });
    expect(data).toMatch(/^\[not text, 2000000 bytes; begins with [0-9a-f]{64} /);
    expect(data.length).toBeLessThan(200);
    await bash('rm l1.c u16 data');
  });

  it('answers are not longer than those of bash, and long lines are cut', async () => {
    await bash(
      'i=0; while [ $i -lt 1000 ]; do i=$((i+1)); printf "%050d\\n" $i; done >many; { head -c 100000 /dev/zero | tr "\\0" x; echo; echo next; } >long',
    );
    const many = await fixture.call('read', { sandbox, path: 'many' });
    expect(many.text.length).toBeLessThan(25_000);
    expect(many.text).toContain('[lines 1 to 470; the file has 1000 lines, 51000 bytes; go on with offset 470]');
    expect(many.meta).toMatchObject({ lines: 470, truncated: true, eof: false });
    const rest = await fixture.text('read', { sandbox, path: 'many', offset: 470, limit: 1 });
    expect(rest).toMatch(/^0+471\n/);
    const long = await fixture.text('read', { sandbox, path: 'long' });
    expect(long).toMatch(/^x{2000}\[… cut\]\nnext\n\n\[line 1 is cut at 2000 characters; /);
    await bash('rm many long');
  });

  it('writes outside of the workspace, and says that this is in no diff', async () => {
    expect(await fixture.text('write', { sandbox, path: '/tmp/outside', content: 'x\n' })).toMatch(
      /nothing to record\]\n\[note: it lies outside of the workspace, so no diff and no merge has it\]$/,
    );
  });

  it('shows a picture as a picture', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await fixture.text('write', { sandbox, path: 'dot.png', content: png, encoding: 'base64' });
    const { result } = await fixture.call('read', { sandbox, path: 'dot.png' });
    expect(result.content).toEqual([
      { type: 'text', text: '[image/png, 70 bytes]' },
      { type: 'image', mimeType: 'image/png', data: png },
    ]);
    await bash('rm dot.png');
  });

  it('pages through files that are larger than memory would like', async () => {
    await bash(
      'truncate -s 1099511627776 sparse; seq 1 2000000 >large.txt; head -c 3000000 /dev/zero | tr "\\0" x >one-line',
      {
        message: 'large files',
      },
    );
    const large = await fixture.call('read', { sandbox, path: 'large.txt', offset: 1_500_000, limit: 2 });
    expect(large.text).toMatch(/^1500001\n1500002\n\n\[lines 1500001 to 1500002; the file has 2000000 lines/);
    const line = await fixture.call('read', { sandbox, path: 'one-line' });
    expect(line.meta).toMatchObject({ truncated: true, fileBytes: 3_000_000 });
    expect(line.text).toContain('[line 1 is cut at 2000 characters;');
    const sparse = await fixture.call('read', { sandbox, path: 'sparse' });
    expect({ isError: sparse.isError, fileBytes: sparse.meta['fileBytes'] }).toEqual({
      isError: false,
      fileBytes: 2 ** 40,
    });
    await bash('rm sparse large.txt one-line');
  });

  it('X18: refuses hidden files of the workspace, however they are written', async () => {
    for (const path of [
      '.gitignore',
      './.gitignore',
      'src/../.gitignore',
      '/src/.gitignore',
      `${fixture.workdir}/.gitignore`,
    ])
      expect({ path, code: await fixture.code('read', { sandbox, path }) }).toEqual({ path, code: 'PATH_HIDDEN' });
    expect(await fixture.code('grep', { sandbox, pattern: 'x', path: '.gitignore' })).toBe('PATH_HIDDEN');
    expect(await fixture.code('ls', { sandbox, path: '.github' })).toBe('PATH_HIDDEN');
    expect(await fixture.text('write', { sandbox, path: '.hidden', content: 'secret-words\n' })).not.toContain(
      'secret-words',
    );
    const refused = await fixture.call('patch', { sandbox, path: '.hidden', diff: '@@ -1 +1 @@\n-other\n+new\n' });
    expect({ isError: refused.isError, code: refused.meta['code'] }).toEqual({ isError: true, code: 'PATCH_CONFLICT' });
    expect(refused.text).not.toContain('secret-words');
    expect(await fixture.text('ls', { sandbox })).not.toContain('.hidden');
    expect(await fixture.text('glob', { sandbox, pattern: '**' })).not.toContain('.hidden');
    expect(await fixture.text('grep', { sandbox, pattern: 'secret-words' })).toBe(
      '[no line matches]\n[2 hidden names left out]',
    );
  });

  it('says of hidden files how they are read, that they were passed over, and that one was replaced', async () => {
    const refused = await fixture.call('read', { sandbox, path: '.hidden' });
    expect(refused.text).toMatch(/\nNext: Use bash for what is hidden: cat, grep or ls -A\.$/);
    expect((await bash('cat .hidden')).text).toMatch(/^secret-words\n/);
    for (const [tool, more] of [
      ['ls', {}],
      ['ls', { recursive: true }],
      ['glob', { pattern: '.g*' }],
      ['grep', { pattern: 'ignored' }],
      ['grep', { pattern: 'ignored', include: '*' }],
    ] as const)
      expect({ tool, text: await fixture.text(tool, { sandbox, ...more }) }).toEqual({
        tool,
        text: expect.stringMatching(/\n\[2 hidden names left out\]$/),
      });
    expect(await fixture.text('write', { sandbox, path: '.hidden', content: 'other\n' })).toMatch(
      /\]\n\[note: a hidden file was there, and its old content was replaced; /,
    );
    expect(await fixture.text('write', { sandbox, path: '.fresh', content: 'x\n' })).not.toContain('[note:');
    await bash('rm .fresh');
  });

  it('is never held up by what is no file', async () => {
    await bash('mkfifo pipe; ln -s loop loop; ln -s /etc/hostname out', { message: 'odd files' });
    expect(await fixture.code('read', { sandbox, path: 'pipe' })).toBe('NOT_A_REGULAR_FILE');
    expect(await fixture.code('read', { sandbox, path: 'src' })).toBe('IS_A_DIRECTORY');
    expect(await fixture.code('read', { sandbox, path: 'loop' })).toBe('NOT_FOUND');
    expect(await fixture.code('read', { sandbox, path: '/dev/zero' })).toBe('NOT_A_REGULAR_FILE');
    expect(await fixture.code('read', { sandbox, path: 'src/a.txt/' })).toBe('NOT_A_DIRECTORY');
    expect(await fixture.code('write', { sandbox, path: 'pipe', content: 'x' })).toBe('NOT_A_REGULAR_FILE');
    expect(await fixture.code('write', { sandbox, path: 'src', content: 'x' })).toBe('IS_A_DIRECTORY');
    expect(await fixture.text('grep', { sandbox, pattern: 'hostname' })).toMatch(/^\[no line matches\]\n/);
    await bash('rm pipe loop out');
  });
});

describe('write and patch', () => {
  it('say what they did, and that nothing changed when nothing did', async () => {
    expect(await fixture.text('write', { sandbox, path: 'new/deep/file.txt', content: 'one\ntwo' })).toMatch(
      /^\[wrote "new\/deep\/file.txt": 2 lines, 7 bytes, recorded as revision \d+ \(1 file\)\]$/,
    );
    expect(await fixture.text('write', { sandbox, path: 'new/deep/file.txt', content: 'one\ntwo' })).toContain(
      'nothing to record',
    );
  });

  it('make, change and delete a file, once', async () => {
    const made = '--- /dev/null\n+++ b/p.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n';
    expect(await fixture.text('patch', { sandbox, path: 'p.txt', diff: made })).toContain(
      'created "p.txt": +2 -0 lines',
    );
    const changed = '--- a/p.txt\n+++ b/p.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n';
    expect(await fixture.text('patch', { sandbox, path: 'p.txt', diff: changed })).toContain('modified "p.txt": +1 -1');
    expect(await fixture.text('patch', { sandbox, path: 'p.txt', diff: changed })).toContain('already applied');
    expect(await fixture.text('read', { sandbox, path: 'p.txt' })).toBe('one\nTWO\n');
    const gone = '--- a/p.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-TWO\n';
    expect(await fixture.text('patch', { sandbox, path: 'p.txt', diff: gone })).toContain('deleted "p.txt"');
    expect(await fixture.text('patch', { sandbox, path: 'p.txt', diff: gone })).toContain('already applied');
    expect(await fixture.code('read', { sandbox, path: 'p.txt' })).toBe('NOT_FOUND');
  });

  it('FC-25: who watches a directory sees one event for each change, and of other names only one that begins with a dot', async () => {
    const watch =
      'const fs = require("fs"); fs.watch("w", (event, name) => fs.appendFileSync("/tmp/events", `${event} ${name}\\n`)); fs.writeFileSync("/tmp/watching", "")';
    const started = await bash(
      `command -v node >/dev/null || exit 9; mkdir w; echo 1 >w/m.js; node -e '${watch}' >/dev/null 2>&1 & echo $! >/tmp/watcher; until [ -e /tmp/watching ]; do sleep 0.05; done`,
    );
    if (started.meta['exitCode'] === 9) return; // an image without node
    await fixture.text('write', { sandbox, path: 'w/m.js', content: '2\n' });
    await fixture.text('write', { sandbox, path: 'w/m.js', content: '3\n' });
    await fixture.text('edit', { sandbox, path: 'w/m.js', old: '3', new: '4' });
    await fixture.text('patch', { sandbox, path: 'w/m.js', diff: '@@ -1 +1 @@\n-4\n+5\n' });
    const events = await bash(
      'until [ "$(grep -c " m.js$" /tmp/events)" -ge 4 ]; do sleep 0.05; done; kill $(cat /tmp/watcher); grep -v " [.]litterbox-[0-9a-f]*$" /tmp/events | sort | uniq -c; ls -A w',
    );
    expect(events.text).toMatch(/^ *4 rename m\.js\nm\.js\n\[/);
    await bash('rm -r w');
  });

  it('forgive what leaves no doubt in a patch, and tell it', async () => {
    const patch = async (diff: string) => await fixture.call('patch', { sandbox, path: 'f.txt', diff });
    await bash("printf 'one\\ntwo\\nthree\\n' >f.txt");
    expect((await patch('```diff\n@@ -1,7 +1,7 @@\n one\n-two\n+TWO\n```')).text).toMatch(
      /^\[modified "f\.txt": \+1 -1 lines, recorded as revision \d+ \(1 file\)\]\n\[note: the fence .+\]\n\[note: the counts .+\]$/,
    );
    expect((await patch('@@ ... @@\n TWO\n-three\n+3\n')).text).toContain(
      '[note: hunk 1 without numbers: found at line 2]',
    );
    const moved = '*** Begin Patch\n*** Update File: f.txt\n*** Move to: g.txt\n@@\n-3\n+4\n*** End Patch';
    expect((await patch(moved)).text).toMatch(/^\[moved "f\.txt" to "g\.txt": \+1 -1 lines, recorded as revision/);
    expect(await fixture.text('read', { sandbox, path: 'g.txt' })).toBe('one\nTWO\n4\n');
    await bash('mv g.txt f.txt; cat f.txt >>f.txt.2; cat f.txt.2 >>f.txt; rm f.txt.2');
    expect((await patch('@@\n-TWO\n+2\n')).text).toContain(
      'hunk 1 without numbers fits in 2 places, at lines 2 and 5; give it more lines of context.',
    );
    await bash('rm f.txt');
  });

  it('an edit replaces one text, and says where there are several', async () => {
    const edit = (more: Record<string, unknown>) => fixture.call('edit', { sandbox, path: 'e.txt', ...more });
    await bash("printf 'one\\r\\ntwo\\r\\none\\r\\n' >e.txt; chmod +x e.txt");
    expect((await edit({ old: 'two\none', new: 'TWO\n1' })).text).toMatch(
      /^\[edited "e\.txt": line 2, with the file's line ends \(CRLF\), recorded as revision \d+ \(1 file\)\]$/,
    );
    expect((await bash('[ -x e.txt ] && od -An -c e.txt')).text).toMatch(
      /^\s+o {3}n {3}e {2}\\r {2}\\n {3}T {3}W {3}O/,
    );
    await bash("printf 'a\\nb\\na\\n' >e.txt");
    expect((await edit({ old: 'a', new: 'c' })).text).toMatch(
      /^EDIT_AMBIGUOUS: "e\.txt" is not changed: the old text stands there 2 times, at lines 1 and 3\.\nNext: Give more /,
    );
    const all = await edit({ old: 'a', new: 'c', all: true });
    expect(all.text).toContain('edited "e.txt": 2 places, lines 1 and 3, recorded as revision');
    expect(all.meta).toMatchObject({ places: 2, lines: [1, 3], changedFiles: 1 });
    expect(await fixture.text('read', { sandbox, path: 'e.txt' })).toBe('c\nb\nc\n');
    expect(await fixture.code('edit', { sandbox, path: '.git/config', old: 'a', new: 'b' })).toBe('PATH_GIT_DIR');
    expect(await fixture.code('edit', { sandbox, path: 'nowhere', old: 'a', new: 'b' })).toBe('NOT_FOUND');
    await bash('rm e.txt');
  });

  it('refuse a git directory and what is no path', async () => {
    for (const path of ['.git/config', 'src/.GIT/x', '/src/.git/hooks/x'])
      expect({ path, code: await fixture.code('write', { sandbox, path, content: 'x' }) }).toEqual({
        path,
        code: 'PATH_GIT_DIR',
      });
    expect(await fixture.code('read', { sandbox, path: '.git/HEAD' })).toBe('PATH_GIT_DIR');
    expect(await fixture.code('ls', { sandbox, path: '.git' })).toBe('PATH_GIT_DIR');
    expect(await fixture.code('write', { sandbox, path: '', content: 'x' })).toBe('PATH_EMPTY');
    expect(await fixture.code('write', { sandbox, path: 'a\0b', content: 'x' })).toBe('PATH_NUL');
    expect(await fixture.code('write', { sandbox, path: 'x'.repeat(300), content: 'x' })).toBe('PATH_TOO_LONG');
  });

  it('A33: take every name for a name', async () => {
    for (const name of ['a; touch pwned', '$(touch pwned)', '`touch pwned`', '-rf', '--', '\n-e id', "it's", 'a*b']) {
      await fixture.text('write', { sandbox, path: name, content: `${name}!` });
      expect(await fixture.text('read', { sandbox, path: name })).toBe(`${name}!`);
    }
    expect((await fixture.text('ls', { sandbox })).split('\n')).not.toContain('pwned');
    expect((await fixture.text('ls', { sandbox })).split('\n')).toContain('\\n-e id'); // one name, one line
    await bash('rm -f -- "-rf" -- "--"; rm -f ./*pwned* ./*id ./it* ./a?b');
  });

  it('do not lose a byte when many change one file at once', async () => {
    await fixture.text('write', { sandbox, path: 'shared.txt', content: '' });
    await Promise.all(Array.from({ length: 20 }, (_, index) => bash(`printf '%s\\n' ${index} >>shared.txt`)));
    const lines = (await fixture.text('read', { sandbox, path: 'shared.txt' })).trim().split('\n').map(Number);
    expect(lines.sort((left, right) => left - right)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });
});

describe('ls, glob and grep', () => {
  it('find what is there, in order, and follow no link', async () => {
    await bash(
      'mkdir -p tree/deep/.secret; touch tree/deep/x.ts tree/y.tsx tree/.z tree/deep/.secret/q.ts; ln -s / tree/root',
      {
        message: 'a tree',
      },
    );
    expect(await fixture.text('ls', { sandbox, path: 'tree' })).toBe('deep/\nroot@\ny.tsx\n[1 hidden name left out]');
    expect(await fixture.text('ls', { sandbox, path: 'tree', recursive: true })).toBe(
      'deep/\ndeep/x.ts\nroot@\ny.tsx\n[2 hidden names left out]',
    );
    expect(await fixture.text('glob', { sandbox, path: 'tree', pattern: '**/*.{ts,tsx}' })).toBe(
      'deep/x.ts\ny.tsx\n[2 hidden names left out]',
    );
    expect(await fixture.text('glob', { sandbox, pattern: 'tree/*.ts' })).toMatch(/^\[no file matches\]\n/);
    expect(await fixture.code('ls', { sandbox, path: 'nowhere' })).toBe('NOT_FOUND');
    expect(await fixture.code('glob', { sandbox, path: 'src/a.txt', pattern: '*' })).toBe('NOT_A_DIRECTORY');
    await bash('rm -r tree');
  });

  it('pass over what tools filled, unless it is named', async () => {
    await bash(
      'mkdir -p app/node_modules/dep/node_modules/deep; echo needle | tee app/own.js app/node_modules/dep/a.js',
      {
        message: 'dependencies',
      },
    );
    await bash('echo needle >app/node_modules/dep/node_modules/deep/b.js');
    expect(await fixture.text('glob', { sandbox, pattern: 'app/**/*.js' })).toMatch(/^app\/own\.js\n\[/);
    expect(await fixture.text('grep', { sandbox, pattern: 'needle', path: 'app' })).toBe('app/own.js\n1: needle');
    expect(await fixture.text('grep', { sandbox, pattern: 'needle', path: 'app', include: '*.js' })).toBe(
      'app/own.js\n1: needle',
    );
    expect(await fixture.text('ls', { sandbox, path: 'app', recursive: true })).toBe('node_modules/\nown.js');
    expect(await fixture.text('glob', { sandbox, path: 'app/node_modules', pattern: '**/*.js' })).toBe('dep/a.js');
    expect(await fixture.text('ls', { sandbox, path: 'app/node_modules' })).toBe('dep/');
    await bash('rm -r app');
  });

  it('search by regular expression, in a directory, in one file, in files of a kind', async () => {
    await bash(
      "mkdir g; printf 'alpha 1\\nbeta 22\\n' >g/one.txt; printf 'alpha\\n' >g/two.md; printf 'al\\000pha' >g/bin",
      {
        message: 'files to search',
      },
    );
    expect(await fixture.text('grep', { sandbox, pattern: 'alpha', path: 'g' })).toBe(
      'g/one.txt\n1: alpha 1\ng/two.md\n1: alpha\n[1 file that is not text left out; bash with grep -a searches it]',
    );
    expect(
      await fixture.text('grep', { sandbox, pattern: 'ALPHA', ignoreCase: true, include: '*.md', path: 'g' }),
    ).toBe('g/two.md\n1: alpha');
    expect(await fixture.text('grep', { sandbox, pattern: '\\d\\d$', path: 'g/one.txt' })).toBe(
      'g/one.txt\n2: beta 22',
    );
    expect(await fixture.text('grep', { sandbox, pattern: 'alpha', include: 'g/*.txt' })).toMatch(
      /^g\/one\.txt\n1: alpha 1\n\[/,
    );
    expect(await fixture.text('grep', { sandbox, pattern: '-f/etc/passwd', path: 'g/one.txt' })).toBe(
      '[no line matches]',
    );
    expect(await fixture.code('grep', { sandbox, pattern: '[' })).toBe('PATTERN_INVALID');
    expect(await fixture.code('grep', { sandbox, pattern: '(?<=x)y' })).toBe('PATTERN_UNSUPPORTED');
    expect(await fixture.code('grep', { sandbox, pattern: '' })).toBe('PATTERN_EMPTY');
    expect(await fixture.code('glob', { sandbox, pattern: '[' })).toBe('GLOB_INVALID');
    await bash('rm -r g');
  });

  it('FC-37: says nothing is there only of what was looked into', async () => {
    await bash(
      "mkdir -p w/node_modules/d w/closed; cd w; printf 'needle\\n\\0more\\n' >nul.ts; printf '\\377\\376n\\0e\\0' >u16; echo needle >node_modules/d/x; echo needle >secret; chmod 0 secret closed",
      { message: 'files that are not looked into' },
    );
    const nothing = async (path: string, more = {}) =>
      await fixture.text('grep', { sandbox, pattern: 'needle', path, ...more });
    expect(await nothing('w/nul.ts')).toBe(
      '[no line matches]\n[1 file that is not text left out; bash with grep -a searches it]',
    );
    const all =
      '[no line matches]\n[2 files that are not text left out; bash with grep -a searches them]\n[2 unreadable names left out]\n[1 node_modules or __pycache__ left out; path can name one]';
    expect(await nothing('w')).toBe(all);
    expect(await nothing('w', { include: '*' })).toBe(all);
    expect(await fixture.text('glob', { sandbox, path: 'w', pattern: '*.js' })).toBe(
      '[no file matches]\n[1 unreadable name left out]\n[1 node_modules or __pycache__ left out; path can name one]',
    );
    expect(await fixture.code('ls', { sandbox, path: 'w/closed' })).toBe('PERMISSION_DENIED');
    await bash(
      "cd w; chmod 700 closed secret; rm -r *; { yes x | head -n 50000; printf 'needle\\0\\nn\\351 needle\\n'; } >late",
    );
    expect(await nothing('w')).toMatch(/^w\/late\n50001: needle.*\n50002: n.* needle$/s);
    await bash('rm -r w');
  });

  it('A31: a hostile pattern holds nothing up', async () => {
    await bash('head -c 300000 /dev/zero | tr "\\0" a >a.txt');
    const started = performance.now();
    const slow = fixture.call('grep', { sandbox, pattern: '(a+)+$' });
    const others = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const from = performance.now();
        await fixture.text('ls', { sandbox });
        return performance.now() - from;
      }),
    );
    await slow;
    expect(Math.max(...others)).toBeLessThan(20_000); // not a speed: that nothing waits for the pattern
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(await fixture.code('glob', { sandbox, pattern: '{a,b}'.repeat(30) })).toBe('PATTERN_TOO_COMPLEX');
    await fixture.text('glob', { sandbox, pattern: `${'**/'.repeat(40)}x` });
    await bash('rm a.txt');
  });
});

describe('arguments', () => {
  it('are checked with codes that say what to do', async () => {
    const cases: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ['read', { sandbox: 'nothing', path: 'x' }, 'SANDBOX_NOT_FOUND'],
      ['read', { sanbox: 'a', path: 'x' }, 'ARG_UNKNOWN'],
      ['read', { path: 'x' }, 'ARG_MISSING'],
      ['read', { sandbox, path: 'src/a.txt', offset: -1 }, 'ARG_RANGE'],
      ['read', { sandbox, path: 'src/a.txt', offset: 1.5 }, 'ARG_RANGE'],
      ['read', { sandbox, path: 'src/a.txt', offset: '0' }, 'ARG_TYPE'],
      ['read', { sandbox, path: 'src/a.txt', limit: 0 }, 'ARG_RANGE'],
      ['read', { sandbox, path: 'src/a.txt', limit: 1e18 }, 'ARG_RANGE'],
      ['bash', { sandbox, command: '' }, 'COMMAND_EMPTY'],
      ['bash', { sandbox, command: ' ' }, 'COMMAND_EMPTY'],
      ['bash', { sandbox, command: 'a\0b' }, 'COMMAND_NUL'],
      ['bash', { sandbox, command: 'x'.repeat(2 ** 21) }, 'COMMAND_TOO_LONG'],
      ['bash', { sandbox, command: 'x', timeout: 0 }, 'ARG_RANGE'],
      ['bash', { sandbox, command: 'x', timeout: 1e12 }, 'ARG_RANGE'],
      ['bash', { sandbox, command: 'x', timeout: '5' }, 'ARG_TYPE'],
      ['bash', { sandbox, command: 'x', force: true }, 'ARG_UNKNOWN'],
      ['sandbox-milestone', { sandbox, message: ' ' }, 'MESSAGE_EMPTY'],
      ['sandbox-milestone', { sandbox, message: 'x'.repeat(20_000) }, 'MESSAGE_TOO_LONG'],
      ['sandbox-create', { name: sandbox }, 'SANDBOX_EXISTS'],
      ['sandbox-create', { name: 'HEAD' }, 'NAME_RESERVED'],
      ['sandbox-create', { name: 'x', repo: '/etc' }, 'ARG_UNKNOWN'],
      ['sandbox-create', { name: 5 }, 'ARG_TYPE'],
      ['write', { sandbox, path: 'x', content: '\ud800' }, 'ARG_TYPE'],
    ];
    for (const [name, input, code] of cases)
      expect({ name, input, code: await fixture.code(name, input) }).toEqual({ name, input, code });
  });

  it('FC-38: null for an optional argument is an argument that was left out', async () => {
    expect(await fixture.text('read', { sandbox, path: 'src/a.txt', offset: null, limit: null, encoding: null })).toBe(
      'a\n',
    );
    const command = { sandbox, command: 'echo fine >null', workdir: null, timeout: null, message: null };
    expect(await fixture.text('bash', command)).toMatch(/^\[exit code 0,/);
    expect(await fixture.code('bash', { ...command, command: null })).toBe('ARG_TYPE');
    expect(await fixture.code('read', { sandbox, path: 'src/a.txt', force: null })).toBe('ARG_UNKNOWN');
  });

  it('errors tell what a model can do: a tool, or a word to the person', async () => {
    await using prefixed = await mcpFixture({ args: ['--tool-prefix', 'lb_'] });
    expect((await prefixed.call('lb_read', { sandbox: 'a', path: 'x' })).text).toContain(
      'Next: Make one: lb_sandbox-create.',
    );
    expect((await fixture.call('sandbox-create', { name: sandbox })).text).toMatch(
      /\nNext: Choose another name, or work in it\. Ask the person to run: litterbox delete \S+\.$/,
    );
  });

  it('errors name no place of the machine and hold no stack', async () => {
    const { text } = await fixture.call('read', { sandbox: 'nothing', path: 'x' });
    expect(text).not.toContain(fixture.scratch.stateDirectory);
    expect(text).not.toMatch(/\n\s+at /);
    expect(text).toMatch(/^SANDBOX_NOT_FOUND: .*\nNext: /);
  });

  it('a sandbox that is paused says how it goes on', async () => {
    await fixture.person.setRunState(sandbox, 'paused');
    const answer = await fixture.call('bash', { sandbox, command: 'true' });
    expect(answer.meta).toMatchObject({ code: 'SANDBOX_PAUSED' });
    expect(answer.text).toContain('litterbox resume a');
    await fixture.person.setRunState(sandbox, 'ready');
    await fixture.text('bash', { sandbox, command: 'true' });
  });
});

it('answers five hundred calls at once, none twice and none lost', async () => {
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, index) =>
      index % 10 === 0
        ? fixture.text('bash', { sandbox, command: `echo answer ${index}` })
        : fixture.text('read', { sandbox, path: 'src/a.txt' }),
    ),
  );
  answers.forEach((text, index) => expect(text).toMatch(index % 10 === 0 ? new RegExp(`^answer ${index}\n`) : /^a\n$/));
  await pause(0);
});
