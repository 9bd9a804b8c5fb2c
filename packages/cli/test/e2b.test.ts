import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { CliFixture } from './cli-fixture.ts';

/** The program of the client's own README, and what a second one finds. */
const PROGRAM = `import { Sandbox } from 'e2b'
const sandbox = await Sandbox.create()
const result = await sandbox.commands.run('echo "Hello from E2B!"; ls')
console.log(result.stdout)
await sandbox.files.write('left.txt', 'left')`;

async function served(
  scratch: CliFixture,
  ...args: readonly string[]
): Promise<[ChildProcess, Record<string, string>]> {
  const server = scratch.start(['serve', '--e2b', '--json', ...args]);
  const [bytes] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const { keyFile = '', ...variables } = JSON.parse(bytes.toString()) as Record<string, string>;
  expect([keyFile, statSync(keyFile).mode & 0o777]).toEqual([join(scratch.stateDirectory, 'e2b.key'), 0o600]);
  return [server, { ...variables, E2B_API_KEY: readFileSync(keyFile, 'utf8').trim() }];
}

async function program(variables: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: new URL('.', import.meta.url).pathname,
    env: { PATH: process.env['PATH'], ...variables },
  });
  return stdout;
}

async function ended(server: ChildProcess): Promise<void> {
  server.kill('SIGINT');
  expect(((await once(server, 'exit')) as [number | null])[0]).toBe(130);
}

describe('litterbox serve --e2b', () => {
  it("serves the program of the client's README by its own variables, and the work stays", async () => {
    await using scratch = new CliFixture();
    const [server, variables] = await served(scratch);
    expect(await program(variables)).toBe('Hello from E2B!\na.txt\n\n');
    await ended(server);
    const [one] = JSON.parse((await scratch.run(['list', '--json'])).stdout) as { readonly name: string }[];
    expect((await scratch.run(['diff', one?.name ?? ''])).stdout).toContain('+left');
    expect((await scratch.run(['merge', one?.name ?? ''])).code).toBe(0);
    expect(readFileSync(join(scratch.repository, 'left.txt'), 'utf8')).toBe('left');
  });

  it('serves sandboxes that begin empty, and refuses options that are about agents', async () => {
    await using scratch = new CliFixture();
    const [server, variables] = await served(scratch, '--empty');
    expect(await program(variables)).toBe('Hello from E2B!\n\n');
    await ended(server);
    const refused = await scratch.run(['serve', '--e2b', '--sandbox', 'one']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--sandbox is about agents') });
    expect((await scratch.run(['serve', '--empty'])).code).toBe(2);
    expect((await scratch.run(['serve', '--e2b', '--port', 'x'])).code).toBe(2);
  });
});
