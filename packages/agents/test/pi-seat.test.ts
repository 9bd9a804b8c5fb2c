import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from 'litterbox';
import { SEATS } from '../src/index.ts';
import { ownInstructions } from '../src/seats/pi.ts';
import { AgentsFixture } from './agents-fixture.ts';

const pi = SEATS.find(({ id }) => id === 'pi');
if (!pi) throw new Error('no seat');

/** What pi's own makers of tools take from an extension: here the tool is its operations. */
const KIT = ['Bash', 'Read', 'Write', 'Edit', 'Ls']
  .map(
    (name) => `export const create${name}Tool = (cwd, { operations }) => ({ name: '${name}', cwd, operations,
  execute: async (id, input, cwd, options) => (operations.exec ? await operations.exec(input, cwd, options) : input) });`,
  )
  .join('\n');

interface Operations {
  exec(command: string, cwd: string, options: object): Promise<{ readonly exitCode: number }>;
  readFile(path: string): Promise<Buffer>;
  writeFile(path: string, content: string): Promise<void>;
  mkdir(path: string): Promise<void>;
  access(path: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<{ isDirectory(): boolean }>;
  readdir(path: string): Promise<readonly string[]>;
  detectImageMimeType(path: string): Promise<string | undefined>;
}
interface Tool {
  readonly operations: Operations;
  execute(id: string, command: string, cwd: string, options: object): Promise<{ readonly exitCode: number }>;
  execute(id: string, input: object): Promise<object>;
}

/** pi, as far as the extension meets it. */
class PiFixture extends AgentsFixture {
  readonly tools = new Map<string, Tool>();
  readonly #handlers = new Map<string, () => { readonly operations: Operations } | undefined>();

  /** The sandbox, with the extension loaded that the seat names on pi's command line. */
  async loaded(): Promise<{ readonly sandbox: Sandbox; readonly seat: AsyncDisposable }> {
    const sandbox = await this.litterbox.create({ name: 'one' });
    const opened = await pi?.open({ hands: sandbox, root: this.repository, shell: '/bin/sh' });
    if (!opened) throw new Error('no seat');
    this.defer(async () => {
      this.end();
      await opened[Symbol.asyncDispose]();
    });
    const extension = opened.args.find((word) => word.endsWith('.mjs')) ?? '';
    const kit = join(extension, '..', 'node_modules/@earendil-works/pi-coding-agent');
    mkdirSync(kit, { recursive: true });
    writeFileSync(join(kit, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
    writeFileSync(join(kit, 'index.js'), KIT);
    const { default: load } = (await import(pathToFileURL(extension).href)) as { default(api: object): void };
    load({
      registerTool: (tool: Tool & { readonly name: string }) => this.tools.set(tool.name, tool),
      on: (event: string, handler: () => undefined) => this.#handlers.set(event, handler),
    });
    return { sandbox, seat: opened };
  }

  operations(tool: string): Operations {
    const found = this.tools.get(tool);
    if (!found) throw new Error(`no tool ${tool}`);
    return found.operations;
  }

  /** Runs what the model asks of the tool, or with `!` what the person types. */
  async ran(command: string, { id, ...options }: { id?: string; signal?: AbortSignal; timeout?: number } = {}) {
    const said: Buffer[] = [];
    const more = { onData: (data: Buffer) => void said.push(data), ...options };
    const own = this.#handlers.get('user_bash')?.()?.operations;
    const { exitCode } =
      id === undefined
        ? ((await own?.exec(command, this.repository, more)) ?? { exitCode: -1 })
        : ((await this.tools.get('Bash')?.execute(id, command, this.repository, more)) ?? { exitCode: -1 });
    return { exitCode, output: Buffer.concat(said).toString() };
  }

  end(): void {
    this.#handlers.get('session_shutdown')?.();
  }
}

describe("pi's extension", () => {
  it('runs the commands of the model and of the person in the sandbox, each with its call', async () => {
    await using fixture = new PiFixture();
    const { sandbox } = await fixture.loaded();
    expect(await fixture.ran('echo made >made.txt; echo out; exit 3', { id: 'toolu_1' })).toEqual({
      exitCode: 3,
      output: 'out\n',
    });
    expect(await fixture.ran('cat made.txt')).toEqual({ exitCode: 0, output: 'made\n' });
    const [revision] = await sandbox.log();
    expect(revision?.subject).toBe('pi: echo made >made.txt; echo out; exit 3');
    expect(Object.fromEntries(revision?.trailers ?? [])).toMatchObject({ 'Litterbox-Call': 'toolu_1' });
    expect(fixture.git('status', '--porcelain')).toBe('');
  });

  it('reads, lists and changes the files of the sandbox', async () => {
    await using fixture = new PiFixture();
    await fixture.loaded();
    const path = (name: string) => join(fixture.repository, name);
    await fixture.operations('Write').mkdir(path('a b'));
    await fixture.operations('Write').writeFile(path('a b/ü.txt'), 'new\n');
    expect((await fixture.operations('Read').readFile(path('a b/ü.txt'))).toString()).toBe('new\n');
    expect(await fixture.operations('Ls').readdir(path(''))).toEqual(['a b', 'app.txt', 'test.sh']);
    expect((await fixture.operations('Ls').stat(path('a b'))).isDirectory()).toBe(true);
    expect(await fixture.operations('Ls').exists(path('absent'))).toBe(false);
    await expect(fixture.operations('Edit').access(path('absent'))).rejects.toMatchObject({ code: -32_004 });
    await fixture.ran(String.raw`printf '\211PNG\r\n\032\n' >image`, { id: 'toolu_2' });
    expect(await fixture.operations('Read').detectImageMimeType(path('image'))).toBe('image/png');
    expect(fixture.git('status', '--porcelain')).toBe('');
  });

  it.each([
    ['~/x', '/home/agent/x'],
    ['~', '/home/agent'],
    ['~me/x', '~me/x'],
    ['a/~/x', 'a/~/x'],
  ])('FC-333: the home of a path is that of the sandbox, and not that of the person: %s', async (path, inside) => {
    await using fixture = new PiFixture();
    await fixture.loaded();
    for (const name of ['Read', 'Write', 'Edit', 'Ls'])
      expect(await fixture.tools.get(name)?.execute('toolu_1', { path, limit: 1 })).toEqual({ path: inside, limit: 1 });
    expect(await fixture.tools.get('Ls')?.execute('toolu_1', {})).toEqual({});
  });

  it('ends a command that is cancelled, or that takes too long', async () => {
    await using fixture = new PiFixture();
    const { sandbox } = await fixture.loaded();
    const cancel = new AbortController();
    const cancelled = fixture.ran('echo begun >begun; sleep 1000; touch late', { id: 'a', signal: cancel.signal });
    const begun = async () => await sandbox.files.stat('begun').catch(() => undefined);
    while ((await begun()) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    cancel.abort();
    await expect(cancelled).rejects.toThrow('aborted');
    await expect(fixture.ran('sleep 1000; touch late', { id: 'b', timeout: 0.2 })).rejects.toThrow('timeout:0.2');
    expect((await sandbox.files.list('.')).map(({ path }) => path)).toEqual(['app.txt', 'begun', 'test.sh']);
  });

  it('runs and reads nothing on this machine once the seat is gone', async () => {
    await using fixture = new PiFixture();
    const { seat } = await fixture.loaded();
    await fixture.ran('true', { id: 'a' });
    await seat[Symbol.asyncDispose]();
    await expect(fixture.ran('touch here', { id: 'b' })).rejects.toThrow('Nothing runs on this machine');
    await expect(fixture.operations('Read').readFile(join(fixture.repository, 'app.txt'))).rejects.toThrow(
      'Nothing runs on this machine',
    );
    expect(fixture.git('status', '--porcelain')).toBe('');
  });

  it("takes along the person's own instructions from their home, and none of their work tree", async () => {
    await using fixture = new PiFixture();
    const home = join(fixture.directory, 'home');
    mkdirSync(join(home, '.pi/agent'), { recursive: true });
    const told = (environment: NodeJS.ProcessEnv) => Buffer.concat(ownInstructions(environment)).toString();
    expect(told({ HOME: home })).toBe('');
    writeFileSync(join(home, '.pi/agent/AGENTS.md'), 'Be brief.');
    writeFileSync(join(home, '.pi/agent/CLAUDE.md'), 'no');
    writeFileSync(join(home, '.pi/agent/APPEND_SYSTEM.md'), 'Be kind.');
    writeFileSync(join(home, 'AGENTS.md'), 'no');
    expect(told({ HOME: home })).toBe('Be kind.\n\nBe brief.\n\n');
    expect(told({ HOME: home, PI_CODING_AGENT_DIR: home })).toBe('no\n\n');
  });

  it('refuses words of pi that would bring hands of its own', () => {
    for (const args of [['-e', 'other.ts'], ['install', 'x'], ['--approve']])
      expect(() => pi.refuse({}, args)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
    for (const args of [
      ['--model', 'a'],
      ['--print', 'install it'],
      ['--', '-e'],
    ])
      expect(() => pi.refuse({}, args)).not.toThrow();
  });
});
