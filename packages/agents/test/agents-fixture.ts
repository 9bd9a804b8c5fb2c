import { fileURLToPath } from 'node:url';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROVIDERS } from '@litterbox/providers';
import { RepositoryFixture } from '@litterbox/testing';
import { createLitterbox, type Litterbox, type Sandbox } from 'litterbox';
import { WebSocket } from 'ws';
import { ExecServer, listenExecServer } from '../src/index.ts';

const PROVIDER = process.env['LITTERBOX_TEST_PROVIDER'] ?? 'overlayfs';
const program = (name: string) => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));

/** A repository with a sandbox, and Codex's server on it. */
export class AgentsFixture extends RepositoryFixture {
  readonly litterbox: Litterbox;
  #listening: AsyncDisposable | undefined;

  constructor() {
    super({ 'app.txt': 'bad\n', 'test.sh': 'grep -q good app.txt\n' });
    const provider = PROVIDERS.find(({ kind }) => kind === PROVIDER);
    if (!provider) throw new Error(`no provider ${PROVIDER}`);
    const { repository, stateDirectory } = this;
    this.litterbox = createLitterbox({ repo: repository, providers: [provider], stateDirectory, actor: 'codex' });
    this.defer(async () => {
      for (const { name } of await this.litterbox.list()) await this.litterbox.delete(name, { force: true });
      await this.litterbox[Symbol.asyncDispose]();
    });
  }

  /** A sandbox that Codex's server hands out. */
  async seated(root = this.repository): Promise<{ readonly sandbox: Sandbox; readonly url: string }> {
    const sandbox = await this.litterbox.create({ name: 'one' });
    const listening = await listenExecServer(new ExecServer({ hands: sandbox, root, shell: '/bin/sh' }));
    this.#listening = listening;
    this.defer(async () => await this.giveUp());
    return { sandbox, url: listening.url };
  }

  async giveUp(): Promise<void> {
    await this.#listening?.[Symbol.asyncDispose]();
  }

  /**
   * A directory of programs, with a `codex` that behaves in one way, and a `claude`.
   *
   * @param start how the script there starts it; without `exec` it waits, as launchers do
   */
  programs(mode: 'remote' | 'local' | 'broken', start = 'exec'): string {
    const bin = join(this.directory, `bin-${mode}`);
    mkdirSync(bin);
    for (const [name, word] of [
      ['codex', mode],
      ['claude', ''],
    ] as const) {
      const path = join(bin, name);
      writeFileSync(path, `#!/bin/sh\n${start} '${process.execPath}' '${program(name)}' ${word} "$@"\nexit $?\n`);
      chmodSync(path, 0o755);
    }
    return bin;
  }
}

export interface Heard {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A client of an exec server, as Codex is one. */
export class ExecClient implements AsyncDisposable {
  readonly heard: Heard[] = [];
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #news = Promise.withResolvers<void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as Heard & { id?: number } & Answer;
      if (message.id === undefined) this.heard.push(message);
      else this.#answers.get(message.id)?.(message);
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
  }

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<ExecClient> {
    const socket = new WebSocket(url, { headers });
    const client = new ExecClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    return client;
  }

  /** Initialized, anew or as the client that it was. */
  static async ready(url: string, resumeSessionId: string | null = null): Promise<ExecClient & { sessionId: string }> {
    const client = await ExecClient.open(url);
    const { sessionId } = (await client.ask('initialize', { clientName: 'test', resumeSessionId })) as {
      sessionId: string;
    };
    client.send({ method: 'initialized', params: {} });
    return Object.assign(client, { sessionId });
  }

  send(message: object | string): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Rejects with `CODE: message` when that is the answer. */
  async ask(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise<Answer>((resolve) => this.#answers.set(id, resolve));
    this.send({ id, method, params });
    const { result, error } = await answer;
    if (error) throw new Error(`${error.code}: ${error.message}`);
    return result ?? {};
  }

  async start(processId: string, command: string, more: object = {}): Promise<void> {
    await this.ask('process/start', {
      processId,
      metadata: { threadId: 'thread', toolCallId: `call_${processId}` },
      argv: ['/bin/sh', '-lc', command],
      cwd: 'file:///src',
      env: {},
      tty: false,
      ...more,
    });
  }

  /** Waits for what is told of a process. */
  async told(method: string, processId: string, isIt: (params: Heard['params']) => boolean = () => true) {
    for (;;) {
      const found = this.heard.find(
        (one) => one.method === method && one.params['processId'] === processId && isIt(one.params),
      );
      if (found) return found.params;
      await this.#news.promise;
    }
  }

  /** All that a process has printed until now. */
  output(processId: string, stream?: string): string {
    return this.heard
      .filter(({ method, params }) => method === 'process/output' && params['processId'] === processId)
      .filter(({ params }) => stream === undefined || params['stream'] === stream)
      .map(({ params }) => Buffer.from(params['chunk'] as string, 'base64').toString())
      .join('');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    if (this.#socket.readyState === this.#socket.CLOSED) return;
    this.#socket.terminate();
    await closed;
  }
}

interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}
