import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { permissionMode } from '../src/seats/claude.ts';
import { bashText, ClaudeFixture } from './claude-fixture.ts';

const hookInput = (id: string, command: string) =>
  JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command }, tool_use_id: id });

test('a command of Claude runs in the sandbox, as the call that Claude makes of it', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  writeFileSync(join(claude.workdir, 'inside.txt'), 'here\n');
  const command = 'cat inside.txt; echo wrong >&2; exit 3';
  const told = await claude.ran(claude.own('hook'), { input: hookInput('toolu_1', command) });
  expect(told).toEqual({ code: 0, output: '', error: '' });
  const ran = await claude.ran(bashText(`'${command}'`, claude.note));
  expect(ran).toEqual({ code: 3, output: 'here\n', error: 'wrong\n' });
  const [attached] = claude.attached;
  expect(attached).toMatchObject({ subject: command, callId: 'toolu_1', tool: 'claude', cwd: '.', mergeOutput: false });
  const [note] = claude.notes();
  expect(attached?.command).toEqual([
    '/bin/sh',
    '-c',
    `{ true >| ${note}; } 2>/dev/null; eval '${command}' < /dev/null && pwd -P >| ${note}`,
  ]);
  expect(JSON.stringify(attached?.env)).not.toContain('secret');
  expect(readdirSync(claude.root)).toEqual([]);
});

test.each([
  ["cat <<'EOF'\n$lines = 'it is'\nEOF", "$lines = 'it is'\n"],
  ['cat <<MY-MARKER\n$((1 + 1)) `echo b`\nMY-MARKER', '2 b\n'],
  ['true | true; { echo in; } && echo "$$" | grep -c .', 'in\n1\n'],
])('FC-302: the text %j arrives as it was written', async (command, output) => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  await claude.ran(claude.own('hook'), { input: hookInput('toolu_1', command) });
  const quoted = `'${command.replaceAll("'", `'"'"'`)}'`;
  expect(await claude.ran(bashText(quoted, claude.note))).toEqual({ code: 0, output, error: '' });
  expect(claude.attached[0]?.subject).toBe(command);
});

test('cd lasts: Claude reads on the host the place of the directory inside', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  for (const top of [claude.root, claude.workdir]) mkdirSync(join(top, 'lib'));
  await claude.ran(bashText(`'cd lib'`, claude.note));
  expect(readFileSync(claude.note, 'utf8')).toBe(`${claude.root}/lib\n`);
  rmSync(claude.note);
  const { output } = await claude.ran(bashText('pwd', claude.note), { cwd: join(claude.root, 'lib') });
  expect(output).toBe(`${claude.workdir}/lib\n`);
});

test('cd lasts where the directory is in the sandbox alone, outside of the workspace too', async () => {
  await using claude = new ClaudeFixture();
  const { args } = await claude.seated();
  // Otherwise Claude goes back; by --add-dir it asks the person first whether they trust the directory.
  expect(args.find((word) => word.startsWith('--settings='))).toContain(
    `"additionalDirectories":["${claude.own('at')}"]`,
  );
  mkdirSync(join(claude.workdir, 'made/inside'), { recursive: true });
  symlinkSync('/', join(claude.root, 'made'));
  for (const inside of [join(claude.workdir, 'made/inside'), claude.directory]) {
    await claude.ran(bashText(`'cd ${inside}'`, claude.note));
    const cwd = readFileSync(claude.note, 'utf8').trimEnd();
    expect([dirname(cwd), readdirSync(cwd)]).toEqual([claude.own('at'), []]);
    rmSync(claude.note);
    expect((await claude.ran(bashText('pwd', claude.note), { cwd })).output).toBe(`${inside}\n`);
    expect(readFileSync(claude.note, 'utf8')).toBe(`${cwd}\n`);
    rmSync(claude.note);
  }
  expect(readdirSync(claude.own('at'))).toEqual(['1', '2']);
});

test.each([
  ['two paths', 'printf "$PWD\\n/etc"'],
  ['a way out', 'printf "$PWD/../.."'],
  ['no path', 'printf etc'],
  ['a long file', 'head -c 100000 /dev/zero'],
  ['no UTF-8', 'printf "$PWD/\\377"'],
])('what an agent writes in place of the directory tells nothing: %s', async (_what, instead) => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  // pwd is then the agent's own function, so what the wrapper writes is the agent's too.
  expect((await claude.ran(bashText(`'pwd() { ${instead}; }'`, claude.note))).code).toBe(0);
  expect(claude.notes()).toHaveLength(1);
  expect(existsSync(claude.note)).toBe(false);
});

test('asks for no consent to what is done in the sandbox, unless the person chose a mode', async () => {
  await using claude = new ClaudeFixture();
  const home = { HOME: claude.directory };
  expect(permissionMode(home)).toEqual(['--permission-mode=default']);
  mkdirSync(join(claude.directory, '.claude'));
  writeFileSync(join(claude.directory, '.claude/settings.json'), '{"permissions":{"defaultMode":"plan"}}');
  expect(permissionMode(home)).toEqual([]);
});

test('without a server of tools Claude is given none, and no word of them', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated({ hasTools: false });
  expect(JSON.parse(readFileSync(claude.own('servers.json'), 'utf8'))).toEqual({ mcpServers: {} });
  expect(readFileSync(claude.own('prompt.md'), 'utf8')).toMatch(/^Bash works in a sandbox/);
});

test('FC-291: notes of the directory do not pile up inside, and none is taken for that of a later command', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  mkdirSync(join(claude.workdir, 'lib'));
  for (const word of [`'cd lib'`, 'true', 'true', `'exit 0'`]) {
    rmSync(claude.note, { force: true });
    expect((await claude.ran(bashText(word, claude.note))).code).toBe(0);
  }
  expect(existsSync(claude.note)).toBe(false); // the last one said nothing of its directory
  expect(claude.notes()).toHaveLength(1);
  const meet = (name: string, other: string) =>
    `'mkdir ${name}; cd ${name}; until [ -e ../${other} ]; do sleep 0.05; done'`;
  const notes = [claude.note.replace('claude-', 'claude-a'), claude.note.replace('claude-', 'claude-b')] as const;
  await Promise.all([claude.ran(bashText(meet('a', 'b'), notes[0])), claude.ran(bashText(meet('b', 'a'), notes[1]))]);
  const ends = notes.map((note) => readFileSync(note, 'utf8'));
  for (const note of notes) rmSync(note);
  expect(new Set(ends).size).toBe(2); // each its own
  expect(claude.notes()).toHaveLength(2);
});

test('a file that somebody laid where Claude reads stays as it is', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  const victim = join(claude.directory, 'victim');
  writeFileSync(victim, 'mine');
  symlinkSync(victim, claude.note);
  expect((await claude.ran(bashText('true', claude.note))).code).toBe(0);
  expect(readFileSync(victim, 'utf8')).toBe('mine');
});

test('a directory that is gone inside runs nothing, and Claude goes back to the workspace', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  mkdirSync(join(claude.root, 'old'));
  const ran = await claude.ran(bashText(`'touch ran'`, claude.note), { cwd: join(claude.root, 'old') });
  expect(ran.code).toBe(126);
  expect(ran.error).toContain('is not there in the sandbox any more, so nothing ran');
  expect(readFileSync(claude.note, 'utf8')).toBe(`${claude.root}\n`);
  expect([...readdirSync(claude.workdir), ...readdirSync(join(claude.root, 'old'))]).toEqual([]);
});

test('what is no call of Claude, as a hook of the person, runs in the sandbox too, and reads its input', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  const input = 'x'.repeat(300_000);
  const { code, output } = await claude.ran('pwd; cat', { input });
  expect([code, output === `${claude.workdir}\n${input}`]).toEqual([0, true]);
});

test('much output comes whole, to a reader that is slow to begin', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  const relay = claude.start(bashText(`'yes 0123456789abcde | head -c 20000000'`, claude.note));
  await once(relay.stdout ?? relay, 'readable');
  const hash = createHash('sha256');
  for await (const bytes of relay.stdout ?? []) hash.update(bytes as Uint8Array);
  expect(hash.digest('hex')).toBe(createHash('sha256').update('0123456789abcde\n'.repeat(1_250_000)).digest('hex'));
});

test('a relay that Claude kills ends the command inside', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  const relay = claude.start(bashText(`'echo begun; sleep 1000'`, claude.note));
  await once(relay.stdout ?? relay, 'data');
  relay.kill('SIGTERM');
  await claude.ended(1);
  expect(claude.codes).toEqual([137]);
});

test('what a command leaves in the background works on until the seat is given up', async () => {
  await using claude = new ClaudeFixture();
  const opened = await claude.seated();
  const { code, output } = await claude.ran(bashText(`'sleep 1000 & echo $!'`, claude.note));
  const pid = Number(output);
  expect([code, isAlive(pid)]).toEqual([0, true]);
  await opened[Symbol.asyncDispose]();
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20)); // it is killed, and nobody waits for its end
});

test('a seat that is given up ends what runs, records it, and leaves no file', async () => {
  await using claude = new ClaudeFixture();
  const opened = await claude.seated();
  expect(statSync(claude.own('')).mode & 0o777).toBe(0o700);
  const relay = claude.start(bashText(`'echo begun; sleep 1000'`, claude.note));
  await once(relay.stdout ?? relay, 'data');
  const closed = once(relay, 'close');
  await opened[Symbol.asyncDispose]();
  expect(claude.codes).toEqual([137]);
  expect((await closed)[0]).not.toBe(0);
  expect(existsSync(claude.own(''))).toBe(false);
});

test('without the seat nothing runs on this machine', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  rmSync(claude.own('socket'));
  const ran = await claude.ran(bashText(`'touch ran'`, claude.note));
  expect([ran.code, ran.output]).toEqual([125, '']);
  expect(ran.error).toContain('Nothing ran on this machine');
  expect([...readdirSync(claude.root), ...readdirSync(claude.workdir)]).toEqual([]);
});

test('the hook refuses when it is not the seat that answers, and a worktree outside of the sandbox', async () => {
  await using claude = new ClaudeFixture();
  const { args } = await claude.seated();
  const settings = JSON.parse(args.find((one) => one.startsWith('--settings='))?.replace('--settings=', '') ?? '') as {
    readonly env: Readonly<Record<string, string>>;
    readonly hooks: { readonly PreToolUse: readonly { readonly hooks: readonly { readonly command: string }[] }[] };
  };
  expect(settings.env['CLAUDE_CODE_SHELL_PREFIX']).toBe(claude.prefix);
  const command = settings.hooks.PreToolUse[0]?.hooks[0]?.command ?? '';
  const alone = () => execFileSync('/bin/sh', ['-c', command], { stdio: 'pipe' });
  expect(alone).toThrow(expect.objectContaining({ status: 2 }));
  expect(alone).toThrow('CLAUDE_CODE_SHELL_PREFIX is not what Litterbox set');
  const input = JSON.stringify({ tool_name: 'Agent', tool_input: { isolation: 'worktree' } });
  const refused = await claude.ran(command, { input });
  expect([refused.code, refused.error.includes('Leave out isolation')]).toEqual([2, true]);
});

test('of all texts only the name of the tools starts a program here', async () => {
  await using claude = new ClaudeFixture();
  await claude.seated();
  expect(await claude.ran(claude.own('tools'))).toEqual({ code: 0, output: "tools it's\n", error: '' });
  expect(claude.attached).toEqual([]);
  await claude.ran(`${claude.own('tools')} more`);
  await claude.ran(bashText(`'${claude.own('tools')}'`, claude.note));
  expect(claude.attached).toHaveLength(2);
});

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
