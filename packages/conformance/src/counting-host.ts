import type {
  ByteStream,
  Host,
  HostFiles,
  NamespaceLoopback,
  NetworkNamespace,
  OutputChunk,
  ProcessHandle,
} from '@litterbox/core/provider';

/**
 * A host that counts how often somebody has to wait for it: round trips, were the machine far away.
 *
 * Each answer belongs to a question, and comes one round trip after the answers that were there when the question was asked. Questions that
 * are asked at the same time share a round trip. A program is asked by starting it, by what is written to it and by ending its stdin, and
 * answers by its output and its end; a connection answers once it stands, and then to each write. The count can be above what a machine
 * would need where two chains of questions go on beside each other, and is never below.
 */
export class CountingHost implements Host {
  readonly name: string;
  readonly environment: Host['environment'];
  readonly files: HostFiles;
  readonly loopback?: (namespace: NetworkNamespace) => NamespaceLoopback;
  readonly #host: Host;
  readonly #heard: string[] = [];
  #roundTrips = 0;
  #facts: ReturnType<Host['facts']> | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.name = host.name;
    this.environment = host.environment;
    const { files } = host;
    const asked =
      <Arguments extends readonly [path: string, ...unknown[]], Answer>(
        name: string,
        ask: (...given: Arguments) => Promise<Answer>,
      ) =>
      (...given: Arguments): Promise<Answer> =>
        this.#ask(`files.${name} ${given[0]}`, () => ask(...given));
    this.files = {
      read: asked('read', (path, options) => files.read(path, options)),
      write: asked('write', (path, bytes, options) => files.write(path, bytes, options)),
      makeDirectory: asked('makeDirectory', (path, options) => files.makeDirectory(path, options)),
      list: asked('list', (path, options) => files.list(path, options)),
      stat: asked('stat', (path, options) => files.stat(path, options)),
      rename: asked('rename', (source, target, options) => files.rename(source, target, options)),
      remove: asked('remove', (path, options) => files.remove(path, options)),
    } satisfies HostFiles;
    if (host.loopback) this.loopback = (namespace) => this.#countLoopback(namespace);
  }

  /** How many round trips what is done takes, each with what was heard last before it was over. */
  async count(
    work: () => Promise<unknown>,
  ): Promise<{ readonly roundTrips: number; readonly waits: readonly string[] }> {
    const before = this.#roundTrips;
    await work();
    return { roundTrips: this.#roundTrips - before, waits: this.#heard.slice(before) };
  }

  /** Who asked once knows them: the port says that they are kept. */
  facts: Host['facts'] = (options) => {
    this.#facts ??= this.#ask('facts', () => this.#host.facts(options)).catch((error: unknown) => {
      this.#facts = undefined;
      throw error;
    });
    return this.#facts;
  };

  spawn: Host['spawn'] = async (spec, options) => {
    const conversation = this.#converse(`program ${spec.argv.join(' ').slice(0, 300)}`);
    return countedProcess(await this.#host.spawn(spec, options), conversation);
  };

  connect: Host['connect'] = async (address, options) => {
    const what = `connection to ${JSON.stringify(address)}`;
    const stream = await this.#ask(what, () => this.#host.connect(address, options));
    return countedStream(stream, this.#converse(what));
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host[Symbol.asyncDispose]();
  }

  async #ask<Answer>(what: string, ask: () => Promise<Answer>): Promise<Answer> {
    const conversation = this.#converse(what);
    try {
      return await ask();
    } finally {
      conversation.hear();
    }
  }

  #converse(what: string): Conversation {
    let asked = this.#roundTrips;
    return {
      say: () => {
        asked = Math.max(asked, this.#roundTrips);
      },
      hear: () => {
        if (this.#roundTrips > asked) return;
        this.#roundTrips = asked + 1;
        this.#heard.push(what);
      },
    };
  }

  #countLoopback(namespace: NetworkNamespace): NamespaceLoopback {
    const loopback = this.#host.loopback?.(namespace);
    if (!loopback) throw new Error('The host has no loopback any more.');
    return {
      connect: async (port, options) => {
        const what = `port ${port}`;
        return countedStream(await this.#ask(what, () => loopback.connect(port, options)), this.#converse(what));
      },
      listen: (port, onConnection, options) =>
        this.#ask(`listen at ${port}`, () => loopback.listen(port, onConnection, options)),
      [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
    };
  }
}

/** What is said to one program or connection, and heard of it. */
interface Conversation {
  say(): void;
  hear(): void;
}

function countedProcess(handle: ProcessHandle, { say, hear }: Conversation): ProcessHandle {
  const said =
    <Arguments extends readonly unknown[]>(tell: (...given: Arguments) => Promise<void>) =>
    (...given: Arguments): Promise<void> => {
      say();
      return tell(...given);
    };
  return {
    exit: handle.exit.finally(hear),
    write: said((bytes) => handle.write(bytes)),
    closeStdin: said(() => handle.closeStdin()),
    kill: said((signal) => handle.kill(signal)),
    ...(handle.resize && { resize: said((size) => handle.resize?.(size) ?? Promise.resolve()) }),
    async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
      for await (const chunk of handle) {
        hear();
        yield chunk;
      }
    },
    [Symbol.asyncDispose]: () => handle[Symbol.asyncDispose](),
  };
}

function countedStream(stream: ByteStream, { say, hear }: Conversation): ByteStream {
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => {
      hear();
      controller.enqueue(bytes);
    },
  });
  const said = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => {
      say();
      controller.enqueue(bytes);
    },
  });
  void said.readable.pipeTo(stream.writable).catch(() => {});
  return {
    readable: stream.readable.pipeThrough(heard),
    writable: said.writable,
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
  };
}
