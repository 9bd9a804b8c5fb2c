import { expect, test } from '@jest/globals';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { Litterbox } from 'litterbox';
import { memoryLitterbox } from 'litterbox/testing';
import { sandboxSession } from '../src/index.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  for await (const bytes of stream) text += new TextDecoder().decode(bytes);
  return text;
}

async function opened(litterbox: Litterbox) {
  const sandbox = await litterbox.create({ name: 'fix' });
  return { sandbox, session: await sandboxSession(sandbox) };
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
} as const;

test('a model of the SDK works in the sandbox by a tool, and the person merges', async () => {
  await using litterbox = memoryLitterbox({ files: { 'greet.sh': 'echo Helo\n' } });
  const { sandbox, session } = await opened(litterbox);
  const told: unknown[] = [];
  const bash = tool({
    description: 'Run a command',
    inputSchema: jsonSchema<{ command: string }>({
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
    }),
    async execute({ command }, { experimental_sandbox, abortSignal }) {
      const ran = await experimental_sandbox?.run({ command, ...(abortSignal && { abortSignal }) });
      told.push(ran);
      return ran;
    },
  });
  const call = (toolCallId: string, command: string) => ({
    content: [{ type: 'tool-call' as const, toolCallId, toolName: 'bash', input: JSON.stringify({ command }) }],
    finishReason: { unified: 'tool-calls' as const, raw: undefined },
    usage,
    warnings: [],
  });
  const model = new MockLanguageModelV4({
    doGenerate: [
      call('1', 'sh greet.sh'),
      call('2', 'echo "echo Hello" >greet.sh; sh greet.sh; echo done >&2; exit 3'),
      {
        content: [{ type: 'text', text: 'Mended.' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
  const { text } = await generateText({
    model,
    tools: { bash },
    experimental_sandbox: session,
    instructions: session.description,
    prompt: 'Mend the greeting',
    stopWhen: isStepCount(5),
  });
  expect(text).toBe('Mended.');
  expect(told).toEqual([
    { exitCode: 0, stdout: 'Helo\n', stderr: '' },
    { exitCode: 3, stdout: 'Hello\n', stderr: 'done\n' },
  ]);
  expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).toContain('There is no network');
  await sandbox.merge();
  expect(litterbox.repository.read('greet.sh')).toBe('echo Hello\n');
});

test('files are read and written as the SDK describes, and null says that there is nothing', async () => {
  await using litterbox = memoryLitterbox({ files: { 'a/b.txt': 'one\ntwo\nthree' } });
  const { session, sandbox } = await opened(litterbox);
  const { readTextFile, readBinaryFile, readFile } = session;
  expect(await readTextFile({ path: 'a/b.txt' })).toBe('one\ntwo\nthree');
  expect(await readTextFile({ path: 'a/b.txt', startLine: 2, endLine: 2 })).toBe('two\n');
  expect(await readTextFile({ path: 'a/b.txt', startLine: 3, endLine: 9 })).toBe('three');
  for (const path of ['absent', 'a/b.txt/below']) {
    expect(await readTextFile({ path })).toBeNull();
    expect(await readBinaryFile({ path })).toBeNull();
    expect(await readFile({ path })).toBeNull();
    expect(await session.stat({ path })).toBeNull();
    expect(await session.deleteFile({ path })).toBe(false);
  }
  await expect(session.readBinaryFile({ path: 'a' })).rejects.toMatchObject({ code: 'IS_A_DIRECTORY' });

  await session.writeTextFile({ path: 'new/c.txt', content: 'ü' });
  expect(await readBinaryFile({ path: 'new/c.txt' })).toEqual(utf8('ü'));
  await session.writeTextFile({ path: 'wide', content: 'ü', encoding: 'utf-16le' });
  expect(await readBinaryFile({ path: 'wide' })).toEqual(Uint8Array.of(0xfc, 0));
  expect(await readTextFile({ path: 'wide', encoding: 'utf-16le' })).toBe('ü');
  await session.writeBinaryFile({ path: 'old', content: Uint8Array.of(0xfc) });
  expect(await readTextFile({ path: 'old', encoding: 'latin1' })).toBe('ü');
  await expect(session.writeTextFile({ path: 'x', content: '€', encoding: 'latin1' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  await expect(readTextFile({ path: 'old', encoding: 'klingon' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });

  const content = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(utf8('in '));
      controller.enqueue(utf8('parts'));
      controller.close();
    },
  });
  await session.writeFile({ path: 'streamed', content });
  const stream = await readFile({ path: 'streamed' });
  expect(stream && (await textOf(stream))).toBe('in parts');
  await expect(session.writeTextFile({ path: 'a', content: '' })).rejects.toMatchObject({ code: 'IS_A_DIRECTORY' });
  await expect(session.writeTextFile({ path: '.git/config', content: '' })).rejects.toMatchObject({
    code: 'PATH_GIT_DIR',
  });

  await sandbox.run('ln -s a/b.txt link');
  expect(await session.stat({ path: 'link' })).toEqual({ type: 'file', size: 13 });
  expect(await session.stat({ path: 'a' })).toMatchObject({ type: 'directory' });
  const listed = (await session.listDirectory({ path: '.' })) ?? [];
  expect(new Set(listed.map(({ name, type }) => `${type} ${name}`))).toEqual(
    new Set(['directory a', 'directory new', 'symlink link', 'file old', 'file streamed', 'file wide']),
  );
  expect(await session.listDirectory({ path: 'absent' })).toBeNull();
  await expect(session.listDirectory({ path: 'old' })).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' });
  expect(await session.deleteFile({ path: 'link' })).toBe(true);
  expect(await session.stat({ path: 'a/b.txt' })).not.toBeNull();
  await sandbox.run('mkdir empty');
  await expect(session.deleteFile({ path: 'empty' })).rejects.toMatchObject({ code: 'IS_A_DIRECTORY' });
  await expect(session.deleteFile({ path: 'new' })).rejects.toMatchObject({ code: 'IS_A_DIRECTORY' });
});

test('commands have directory and variables, and their limits stand in what a model reads', async () => {
  await using litterbox = memoryLitterbox({
    files: { 'below/a': '' },
    run: async ({ text, print }) => {
      if (text !== 'flood') return undefined;
      await print('x'.repeat(2 ** 21));
      return { stdout: Uint8Array.of(0xff) };
    },
  });
  const sandbox = await litterbox.create({ name: 'fix', timeoutMs: 1_000 });
  const session = await sandboxSession(sandbox);
  expect(await session.run({ command: 'pwd; echo $MINE', workingDirectory: 'below', env: { MINE: 'x' } })).toEqual({
    exitCode: 0,
    stdout: '/src/below\nx\n',
    stderr: '',
  });
  const { exitCode, stderr } = await session.run({ command: 'echo oops >&2; sleep 100' });
  expect(exitCode).toBe(137);
  expect(stderr).toMatch(/^oops\n\[litterbox: Its time limit ended it after 1 s\.\]\n/);
  const flood = await session.run({ command: 'flood' });
  expect(flood.stderr).toMatch(/bytes in the middle of standard output are left out/);
  expect(flood.stdout.endsWith('\uFFFD')).toBe(true);
  const reason = new Error('enough');
  await expect(session.run({ command: 'true', abortSignal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test('a spawned process streams, takes input where it was asked for, and is killed', async () => {
  await using litterbox = memoryLitterbox();
  const { session } = await opened(litterbox);
  const cat = await session.spawn({ command: 'cat; echo err >&2; exit 4', stdin: true });
  const writer = cat.stdin.getWriter();
  await writer.write(utf8('typed\n'));
  await writer.close();
  expect(await Promise.all([textOf(cat.stdout), textOf(cat.stderr)])).toEqual(['typed\n', 'err\n']);
  expect(await cat.wait()).toEqual({ exitCode: 4 });
  await cat.kill();

  const closed = await session.spawn({ command: 'cat; echo end' });
  expect(closed).not.toHaveProperty('stdin');
  expect(await textOf(closed.stdout)).toBe('end\n');

  const sleeping = await session.spawn({ command: 'echo on; sleep 1000' });
  const reader = sleeping.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  await sleeping.kill();
  await sleeping.kill();
  expect((await sleeping.wait()).exitCode).toBeGreaterThan(128);

  const controller = new AbortController();
  const aborted = await session.spawn({ command: 'sleep 1000', abortSignal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(aborted.wait()).rejects.toThrow('enough');
});
