import { expect } from '@jest/globals';
import { Fixture, RepositoryFixture } from '@litterbox/testing';
import { type Answer, connectAgent, type Era } from '@litterbox/hardening/agent';
import { PROVIDERS } from '@litterbox/providers';
import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import { createLitterbox, type Litterbox } from 'litterbox';

/** The provider that the suites of this package run on, and where the engines of the tests are. */
const PROVIDER = process.env['LITTERBOX_TEST_PROVIDER'] ?? 'overlayfs';
const ENGINES = Object.fromEntries([
  ['LITTERBOX_PROVIDER', PROVIDER],
  ...['DOCKER_HOST', 'CONTAINER_HOST'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
]) as Readonly<Record<string, string>>;
const provider = PROVIDERS.find(({ kind }) => kind === PROVIDER) ?? unknownProvider();

function unknownProvider(): never {
  throw new Error(`LITTERBOX_TEST_PROVIDER is ${PROVIDER}; there are ${PROVIDERS.map(({ kind }) => kind).join(', ')}`);
}

/** A repository, and a real client of a real server on it. */
export interface McpFixture extends Fixture {
  readonly scratch: RepositoryFixture;
  readonly client: Client;
  /** Where the workspace is inside. */
  readonly workdir: string;
  /** The person beside the agent. */
  readonly person: Litterbox;
  readonly environment: Readonly<Record<string, string>>;
  /** What the server said on standard error. */
  stderr(): string;
  pid(): number;
  call(name: string, input: Record<string, unknown>, options?: Parameters<Client['callTool']>[1]): Promise<Answer>;
  /** A call that has to work; its text. */
  text(name: string, input: Record<string, unknown>): Promise<string>;
  /** A call that has to fail; its code. */
  code(name: string, input: Record<string, unknown>): Promise<string>;
  /** One more client on the same repository. */
  connect(args?: readonly string[], options?: ClientOptions): Promise<Client>;
}

/** Deletes the sandboxes of a scratch repository, whose files may belong to users of their own, and then the repository. */
export async function clear(scratch: RepositoryFixture): Promise<void> {
  const { repository, stateDirectory } = scratch;
  const last = createLitterbox({ repo: repository, providers: [provider], stateDirectory });
  for (const { name } of await last.list()) await last.delete(name, { force: true });
  await last[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
}

export async function mcpFixture({
  era = 'modern',
  args = [],
  files,
  client: clientOptions,
}: {
  readonly era?: Era;
  readonly args?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly client?: ClientOptions;
} = {}): Promise<McpFixture> {
  const fixture = new Fixture();
  const scratch = new RepositoryFixture(files);
  fixture.defer(() => clear(scratch));
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: scratch.directory,
    LITTERBOX_HOME: scratch.stateDirectory,
    LC_ALL: 'C.UTF-8',
    ...ENGINES,
  };
  const connect = async (more: readonly string[] = args, options: ClientOptions = {}) => {
    const agent = await connectAgent({
      repository: scratch.repository,
      environment,
      args: more,
      era,
      client: options,
    });
    return fixture.use(agent);
  };
  const { client, pid, stderr, call } = await connect(args, clientOptions);
  const { repository, stateDirectory } = scratch;
  const person = fixture.use(
    createLitterbox({ repo: repository, providers: [provider], stateDirectory, actor: 'person' }),
  );
  return Object.assign(fixture, {
    scratch,
    workdir: PROVIDER === 'overlayfs' ? scratch.repository : '/src',
    client,
    person,
    environment,
    stderr,
    pid: () => pid,
    connect: async (more?: readonly string[], options?: ClientOptions) => (await connect(more, options)).client,
    call,
    async text(name: string, input: Record<string, unknown>) {
      const answer = await call(name, input);
      expect({ name, isError: answer.isError ? answer.text : 'done' }).toEqual({ name, isError: 'done' });
      return answer.text;
    },
    async code(name: string, input: Record<string, unknown>) {
      const { isError, text, meta } = await call(name, input);
      expect({ name, isError }).toEqual({ name, isError: true });
      expect(text.startsWith(`${String(meta['code'])}: `)).toBe(true);
      return String(meta['code']);
    },
  });
}
