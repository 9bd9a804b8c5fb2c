import { expect } from '@jest/globals';
import { type ScratchRepository, scratchRepository } from '@litterbox/hardening';
import { type AgentClient, type Answer, connectAgent, type Era } from '@litterbox/hardening/agent';
import { docker } from '@litterbox/provider-docker';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { podman } from '@litterbox/provider-podman';
import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import { createLitterbox, type Litterbox, type ProviderFactory } from 'litterbox';

/** The provider that the suites of this package run on, and where the engines of the tests are. */
const PROVIDER = process.env['LITTERBOX_TEST_PROVIDER'] ?? 'overlayfs';
const ENGINES = Object.fromEntries([
  ['LITTERBOX_PROVIDER', PROVIDER],
  ...['DOCKER_HOST', 'CONTAINER_HOST'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
]) as Readonly<Record<string, string>>;
const FACTORIES: Readonly<Record<string, ProviderFactory>> = { overlayfs, docker, podman };
const factory = FACTORIES[PROVIDER];
if (!factory) throw new Error(`LITTERBOX_TEST_PROVIDER is ${PROVIDER}; there are ${Object.keys(FACTORIES).join(', ')}`);
const provider = factory;

/** A repository, and a real client of a real server on it. */
export interface McpFixture extends AsyncDisposable {
  readonly scratch: ScratchRepository;
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
export async function clear(scratch: ScratchRepository): Promise<void> {
  const { repository, stateDirectory } = scratch;
  const last = createLitterbox({ repo: repository, providers: [provider], stateDirectory });
  for (const { name } of await last.list()) await last.delete(name, { force: true });
  await last[Symbol.asyncDispose]();
  scratch[Symbol.dispose]();
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
  const scratch = scratchRepository(files);
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: scratch.directory,
    LITTERBOX_HOME: scratch.stateDirectory,
    LC_ALL: 'C.UTF-8',
    ...ENGINES,
  };
  const agents: AgentClient[] = [];
  const connect = async (more: readonly string[] = args, options: ClientOptions = {}) => {
    const agent = await connectAgent({
      repository: scratch.repository,
      environment,
      args: more,
      era,
      client: options,
    });
    agents.push(agent);
    return agent;
  };
  const { client, pid, stderr, call } = await connect(args, clientOptions);
  const person = createLitterbox({
    repo: scratch.repository,
    providers: [provider],
    stateDirectory: scratch.stateDirectory,
    actor: 'person',
  });
  return {
    scratch,
    workdir: PROVIDER === 'overlayfs' ? scratch.repository : '/src',
    client,
    person,
    environment,
    stderr,
    pid: () => pid,
    connect: async (more, options) => (await connect(more, options)).client,
    call,
    async text(name, input) {
      const answer = await call(name, input);
      expect({ name, isError: answer.isError ? answer.text : 'done' }).toEqual({ name, isError: 'done' });
      return answer.text;
    },
    async code(name, input) {
      const { isError, text, meta } = await call(name, input);
      expect({ name, isError }).toEqual({ name, isError: true });
      expect(text.startsWith(`${String(meta['code'])}: `)).toBe(true);
      return String(meta['code']);
    },
    async [Symbol.asyncDispose]() {
      for (const agent of agents) await agent[Symbol.asyncDispose]();
      await person[Symbol.asyncDispose]();
      await clear(scratch);
    },
  };
}
