import type {
  ByteStream,
  Host,
  HostFiles,
  NamespaceLoopback,
  NetworkNamespace,
  OutputChunk,
  ProcessHandle,
} from '@litterbox/core/provider';

/** How long answers are held back for a question that may have none, such as a word to a program that says nothing back; once for each. */
const PATIENCE_MS = 1_000;

/**
 * A host that counts how often somebody has to wait for it: round trips, were the machine far away.
 *
 * Time goes in rounds. Answers are held back until everything that was asked in the same round has been answered, and are then given
 * together. So questions that do not wait for each other share a round, however long each of them takes. A program is asked by starting
 * it, by what is written to it and by ending its stdin, and answers by its output and its end; a connection answers once it stands, and
 * then to what is written to it. A question that is never answered holds the others up for a moment, and costs none.
 */
export class CountingHost implements Host {
  readonly name: string;
  readonly environment: Host['environment'];
  readonly files: HostFiles;
  readonly loopback?: (namespace: NetworkNamespace) => NamespaceLoopback;
  readonly #host: Host;
  /** What was answered in each round. */
  readonly #rounds: string[] = [];
  readonly #held: { readonly what: string; readonly give: () => void }[] = [];
  readonly #open = new Set<symbol>();
  #timer: ReturnType<typeof setTimeout> | undefined;
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

  /** How many round trips what is done takes, each with what was answered in it. */
  async count(
    work: () => Promise<unknown>,
  ): Promise<{ readonly roundTrips: number; readonly waits: readonly string[] }> {
    const before = this.#rounds.length;
    await work();
    const waits = this.#rounds.slice(before);
    return { roundTrips: waits.length, waits };
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
    conversation.say();
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
    conversation.say();
    try {
      return await ask();
    } finally {
      await conversation.hear();
    }
  }

  #converse(what: string): Conversation {
    const question = Symbol(what);
    return {
      say: () => void this.#open.add(question),
      hear: async () => {
        if (!this.#open.delete(question)) return; // more of the same answer
        await new Promise<void>((resolve) => {
          this.#held.push({ what, give: resolve });
          this.#turn();
        });
      },
    };
  }

  /** Gives the answers of this round when none is outstanding, or when the last one has come long ago. */
  #turn(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveAll(), this.#open.size === 0 ? 0 : PATIENCE_MS);
  }

  #giveAll(): void {
    const held = this.#held.splice(0);
    this.#open.clear(); // what has no answer by now is not waited for again
    this.#rounds.push(held.map(({ what }) => what).join(' | '));
    for (const { give } of held) give();
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
  /** Resolves when the answer is given. */
  hear(): Promise<void>;
}

function countedProcess(handle: ProcessHandle, { say, hear }: Conversation): ProcessHandle {
  const said =
    <Arguments extends readonly unknown[]>(tell: (...given: Arguments) => Promise<void>) =>
    (...given: Arguments): Promise<void> => {
      say();
      return tell(...given);
    };
  const ended = async () => {
    try {
      return await handle.exit;
    } finally {
      await hear();
    }
  };
  return {
    exit: ended(),
    write: said((bytes) => handle.write(bytes)),
    closeStdin: said(() => handle.closeStdin()),
    kill: said((signal) => handle.kill(signal)),
    ...(handle.resize && { resize: said((size) => handle.resize?.(size) ?? Promise.resolve()) }),
    async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
      for await (const chunk of handle) {
        await hear();
        yield chunk;
      }
    },
    [Symbol.asyncDispose]: () => handle[Symbol.asyncDispose](),
  };
}

function countedStream(stream: ByteStream, { say, hear }: Conversation): ByteStream {
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform: async (bytes, controller) => {
      await hear();
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
