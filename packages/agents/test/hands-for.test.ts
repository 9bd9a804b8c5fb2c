import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { type ClaudeStart, handsFor } from '../src/index.ts';
import { AgentsFixture } from './agents-fixture.ts';

/** A sandbox, and how hands in it are asked for by a program whose PATH has agents that behave in one way. */
async function embedded(fixture: AgentsFixture, mode: 'remote' | 'local' = 'remote') {
  const sandbox = await fixture.litterbox.create({ name: 'one' });
  const environment = { PATH: `${fixture.programs(mode)}:/usr/bin:/bin`, HOME: fixture.directory };
  return { sandbox, given: { environment, stateDirectory: fixture.stateDirectory } };
}

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ClaudeStart => ({
  args,
  env: { PATH: process.env['PATH'], ...env },
  signal: new AbortController().signal,
});

async function ended(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>]);
  return { code, output };
}

describe('hands for an agent that a program runs by its SDK', () => {
  it('Codex works in the sandbox whatever environment the SDK gives it, and nowhere without hands or sandbox', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, given } = await embedded(fixture);
    const hands = await handsFor(sandbox, 'codex', given);
    const { codexPathOverride } = hands.options;
    const ran = async (command: string, env: NodeJS.ProcessEnv = {}, program = codexPathOverride) =>
      await ended(program, ['run', command], hands.root, { PATH: '/usr/bin:/bin', HOME: fixture.directory, ...env });
    expect(await ran('echo b >app.txt; cat app.txt')).toEqual({ code: 0, output: 'b\n' });
    expect(fixture.git('status', '--porcelain')).toBe('');
    expect((await fixture.litterbox.list())[0]).toMatchObject({ agent: 'codex' });
    await expect(handsFor(sandbox, 'codex', given)).rejects.toMatchObject({
      code: 'BUSY',
      message: expect.stringContaining('codex'),
    });
    await using shared = await handsFor(sandbox, 'codex', { ...given, share: true });
    const home = join(fixture.directory, 'other');
    mkdirSync(home);
    writeFileSync(join(home, 'environments.toml'), '');
    expect(await ran('touch here', { CODEX_HOME: home })).toEqual({ code: 2, output: '' });
    await hands[Symbol.asyncDispose]();
    expect(existsSync(codexPathOverride)).toBe(false);
    expect((await fixture.litterbox.list())[0]).not.toHaveProperty('agent');
    await fixture.litterbox.delete('one', { force: true });
    expect(await ran('touch here', {}, shared.options.codexPathOverride)).toEqual({ code: 1, output: '' });
    expect(fixture.git('status', '--porcelain')).toBe('');
  });

  it('Claude works in the sandbox, and options of the SDK that would take it out are refused by name', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, given } = await embedded(fixture);
    const hands = await handsFor(sandbox, 'claude', given);
    const { cwd, spawnClaudeCodeProcess: claude } = hands.options;
    const env = { CLAUDE_CODE_SHELL_PREFIX: '/bin/sh' };
    const child = claude({ ...start(['run', 'echo b >app.txt; cat app.txt'], env), cwd });
    expect(await text(child.stdout)).toBe('b\n');
    expect(fixture.git('status', '--porcelain')).toBe('');
    expect(Buffer.from(await sandbox.files.read('app.txt')).toString()).toBe('b\n');
    for (const option of ['--setting-sources=user,project', '--settings', '--tools=Read', '--mcp-config'])
      expect(() => claude(start([option, '{}']))).toThrow(
        expect.objectContaining({ code: 'UNSUPPORTED', message: expect.stringContaining(option.split('=')[0] ?? '') }),
      );
    await hands[Symbol.asyncDispose]();
    expect(() => claude(start(['run', 'touch here']))).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
  });

  it('a program that would work here gets no hands and takes no seat; one that is not there is told', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, given } = await embedded(fixture, 'local');
    await expect(handsFor(sandbox, 'codex', given)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    const program = join(fixture.directory, 'none');
    await expect(handsFor(sandbox, 'claude', { ...given, program })).rejects.toMatchObject({
      code: 'TOOL_MISSING',
      message: `${program} is no program.`,
    });
    expect((await fixture.litterbox.list())[0]).not.toHaveProperty('agent');
  });
});
