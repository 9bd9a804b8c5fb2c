interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly processId?: string };
  readonly error?: { readonly message: string };
}

/** What Codex does for one command, as its client of an exec server does it: starts a program, and hears of its end. */
export class CodexClient implements Disposable {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#heard(JSON.parse(String(data)) as Message));
  }

  static async open(url: string): Promise<CodexClient> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    const client = new CodexClient(socket);
    await client.#ask('initialize', { clientName: 'bench', resumeSessionId: null });
    return client;
  }

  /** Resolves when all of it is over, and recorded. */
  async run(command: string, cwd: string): Promise<void> {
    const processId = `process-${this.#last}`;
    const closed = this.#wait(processId);
    const asked = { processId, argv: ['/bin/bash', '-c', command], cwd: `file://${cwd}`, env: {}, tty: false };
    await Promise.all([this.#ask('process/start', asked), closed]);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  async #ask(method: string, params: object): Promise<void> {
    this.#last += 1;
    const answered = this.#wait(String(this.#last));
    this.#socket.send(JSON.stringify({ id: this.#last, method, params }));
    await answered;
  }

  async #wait(key: string): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#waiting.set(key, waiting);
    await waiting.promise;
  }

  #heard({ id, method, params, error }: Message): void {
    const key = method === 'process/closed' ? (params?.processId ?? '') : String(id);
    if (error) this.#waiting.get(key)?.reject(new Error(error.message));
    else this.#waiting.get(key)?.resolve();
    if (error || method === 'process/closed' || id !== undefined) this.#waiting.delete(key);
  }
}
