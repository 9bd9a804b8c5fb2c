import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { LitterboxError } from 'litterbox';
import { AgentLog } from '../src/index.ts';
import { InsideFixture } from './inside-fixture.ts';

const DONE = `echo '{"type":"result","usage":{"input_tokens":12,"output_tokens":3}}'`;

describe('an agent inside', () => {
  it('works with its own state, is recorded as a call, and says how it ended', async () => {
    await using fixture = await InsideFixture.open();
    const { sandbox, server } = fixture;
    const ran = await fixture.run(
      `cat; cat $MODEL_STATE/sub/settings.json; echo; sed -i s/a/b/ a.txt; ${DONE}; exit 3`,
    );
    expect(ran).toMatchObject({ exitCode: 3, endedBy: 'itself', tokens: { input: 12, output: 3 } });
    expect(ran.recorded.changedFiles).toBe(1);
    expect(fixture.printed).toContain('"status":"HTTP/1.1 200 OK"');
    expect(fixture.printed).toMatch(/^\{"url":"http:\/\/127\.0\.0\.1:\d+"\}$/m);
    expect(server.heard).toEqual(['POST /v1/messages 200']);
    const [entry] = await sandbox.log({ limit: 1 });
    expect(entry?.subject).toMatch(/^scripted: "cat; cat /);
    await fixture.run('npm test fails');
    expect(await sandbox.proof()).toMatchObject({ tests: [] }); // a prompt that names a test is none
  });

  it('tells of a limit that it ran into, whatever it says itself', async () => {
    await using fixture = await InsideFixture.open();
    fixture.sandbox = await fixture.litterbox.create({ name: 'small', memoryBytes: 2 ** 27 });
    const ran = await fixture.run('head -c 268435456 /dev/zero | tail -n 1 >/dev/null 2>&1; exit 0');
    expect(ran).toMatchObject({ exitCode: 0, hints: [expect.stringMatching(/^out of memory: .*128 MiB/)] });
  });

  it('FC-431: what it changes is recorded while it works, and its death loses none of it', async () => {
    await using fixture = await InsideFixture.open();
    const { sandbox } = fixture;
    const revisions = async () => await sandbox.log({ limit: 100 });
    const stop = new AbortController();
    const working = fixture.run('echo b >b.txt; sleep 987', { signal: stop.signal });
    while ((await revisions()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await revisions()).map(({ subject }) => subject)).toEqual(['scripted: "echo b >b.txt; sleep 987"']);
    stop.abort();
    expect(await working).toMatchObject({ endedBy: 'stop', recorded: { changedFiles: 1, revision: { number: 1 } } });
    expect(await revisions()).toHaveLength(1);
  });

  it('AX156: is ended at its time limit, at silence, when it is done and goes on, and by its caller; nothing of it stays', async () => {
    await using fixture = await InsideFixture.open();
    const { sandbox } = fixture;
    const limited = fixture.run('(sleep 987 &) ; while :; do echo on; sleep 0.1; done', { timeLimitMs: 1500 });
    expect(await limited).toMatchObject({ endedBy: 'time-limit', exitCode: 137 });
    const silent = await fixture.run('echo c >c.txt; sleep 987', { silenceMs: 1500 });
    expect(silent).toMatchObject({ endedBy: 'silence', recorded: { changedFiles: 1 } });
    expect(await fixture.run(`${DONE}; sleep 987`)).toMatchObject({ endedBy: 'after-end', exitCode: 0 });
    const stop = new AbortController();
    fixture.printed = '';
    const onOutput = async () => stop.abort();
    const stopped = await fixture.run('echo d >d.txt; sleep 987', { signal: stop.signal, onOutput });
    expect(stopped.endedBy).toBe('stop');
    expect(await fixture.run('setsid sleep 987 & exit 0')).toMatchObject({ endedBy: 'itself', exitCode: 0 });
    const { stdout } = await sandbox.run('cat /proc/*/cmdline | tr "\\0" " "');
    expect(stdout).not.toContain('sleep 987');
  });

  it('FC-464: what fails on hearing it ends it, and a log on a full disk does not', async () => {
    await using fixture = await InsideFixture.open();
    const full = join(fixture.directory, 'full');
    mkdirSync(full);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', full]);
    fixture.defer(() => void execFileSync('umount', [full]));
    const onOutput = async () => {
      throw new Error('nobody hears it');
    };
    await expect(fixture.run('echo on; sleep 987', { onOutput })).rejects.toThrow('nobody hears it');
    {
      using log = AgentLog.begin(full);
      writeFileSync(join(full, 'filler'), Buffer.alloc(48 * 1024));
      const heard = { onOutput: async ({ bytes }: { readonly bytes: Uint8Array }) => log.write(bytes) };
      expect(await fixture.run('head -c 100000 /dev/zero | tr "\\0" x', heard)).toMatchObject({ exitCode: 0 });
      rmSync(join(full, 'filler'));
      log.write(Buffer.from('after it\n'));
    }
    expect(Buffer.concat(AgentLog.read(full)).toString()).toMatch(
      /x+\n\[litterbox: the disk was full, \d{5} bytes are missing\]\nafter it\n$/,
    );
  });

  it('AX157: a login inside refuses it, whoever put it there, and a placeholder does not', async () => {
    await using fixture = await InsideFixture.open();
    const { sandbox } = fixture;
    const token = 'sk-ant-oat01-0123456789abcdef';
    for (const path of ['~/.scripted/auth.json', '~/.codex/auth.json', '.claude/.credentials.json']) {
      await sandbox.run(`mkdir -p $(dirname ${path}); echo '{"token":"${token}"}' >${path}`);
      const refused = await fixture.run('echo it runs').catch((error: unknown) => error as LitterboxError);
      expect(refused).toMatchObject({ code: 'PERMISSION_DENIED' });
      expect(JSON.stringify([refused, 'message' in refused && refused.message])).toContain(path.replace('~', ''));
      expect(JSON.stringify([refused, 'message' in refused && refused.message])).not.toContain(token);
      await sandbox.run(`echo "{\\"token\\":\\"$ANTHROPIC_API_KEY\\"}" >${path}`);
    }
    expect(fixture.printed).toBe('');
    expect((await fixture.run('true')).exitCode).toBe(0);
    await sandbox.run('rm ~/.scripted/auth.json; ln -s /dev/null ~/.scripted/auth.json');
    await expect(fixture.run('true')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('is refused by name without a program, an endpoint or a prompt', async () => {
    await using fixture = await InsideFixture.open();
    await expect(fixture.run('x', {}, 'lost')).rejects.toMatchObject({ code: 'TOOL_MISSING' });
    await expect(fixture.run('x', {}, 'codex')).rejects.toMatchObject({
      code: 'CONFIG_MISSING',
      message: 'Codex needs an endpoint of the kind openai, and one has model alone.',
    });
    for (const prompt of ['', '-x', 'a\0b', 'a'.repeat(65_537)])
      await expect(fixture.run(prompt)).rejects.toMatchObject({ code: 'ARG_RANGE' });
  });
});
