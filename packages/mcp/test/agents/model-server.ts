import { createServer as createTlsServer } from 'node:https';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Dialect, ShownTool, Turn } from './dialect.ts';
import { type Plot, PlotError } from './plot.ts';

/** What happened between a client and the model. */
export interface Talk {
  /** Every request that came, whatever it was for. */
  readonly requests: readonly string[];
  /** The tools of the first turn that had ours. */
  readonly tools: readonly ShownTool[];
  /** What the client gave back of each call. */
  readonly results: readonly string[];
  /** What the model said, one turn after the other. */
  readonly turns: readonly Turn[];
  /** The plot went to its end. */
  readonly isOver: boolean;
  readonly failure: string | undefined;
}

/** A model behind an API on loopback, that follows a plot. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly talk: Talk;
}

/** Outside of a sandbox: over TLS, and with a key without which nothing is answered. */
export interface ModelOutside {
  readonly certificate: { readonly cert: string; readonly key: string };
  /** A header, with its whole value. */
  readonly header: string;
  readonly value: string;
}

/** @param onTurn awaited before the model says what it has not said yet, with how many calls it made */
export async function modelServer(
  dialect: Dialect,
  plot: Plot,
  onTurn: (calls: number) => Promise<void> = async () => {},
  outside?: ModelOutside,
): Promise<ModelServer> {
  const model = new PlottedModel(dialect, plot, onTurn);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (outside && request.headers[outside.header] !== outside.value) return void response.writeHead(401).end('{}');
    void model.answer(request, response);
  };
  const server = outside ? createTlsServer(outside.certificate, answer) : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: outside ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    talk: model,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class PlottedModel implements Talk {
  readonly requests: string[] = [];
  tools: readonly ShownTool[] = [];
  results: readonly string[] = [];
  isOver = false;
  failure: string | undefined;
  /** Of the plot; a client that asks twice is told the same. */
  readonly #turns: Turn[] = [];
  readonly #dialect: Dialect;
  readonly #plot: Plot;
  readonly #onTurn: (calls: number) => Promise<void>;

  constructor(dialect: Dialect, plot: Plot, onTurn: (calls: number) => Promise<void>) {
    this.#dialect = dialect;
    this.#plot = plot;
    this.#onTurn = onTurn;
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    this.requests.push(`${method} ${url}`);
    const body = await text(request);
    if (!this.#dialect.wantsTurn(method, url)) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const asked: unknown = JSON.parse(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of this.#dialect.events(await this.#turn(asked), asked)) {
      const { type } = event;
      response.write(`${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }

  async #turn(body: unknown): Promise<Turn> {
    const { tools, results } = this.#dialect.read(body);
    if (!tools.some(({ ours }) => ours !== undefined)) return { say: 'A title' }; // a question beside the work
    if (this.#turns.length === 0) this.tools = tools;
    this.results = results;
    const { length } = this.#turns;
    if (results.length > length) return this.#failed(`${results.length} results of ${length} calls`);
    if (length === results.length) await this.#onTurn(length);
    const known = this.#turns[results.length];
    if (known) return known;
    const turn = this.#next(tools, results.at(-1) ?? '');
    this.#turns.push(turn);
    return turn;
  }

  #next(tools: readonly ShownTool[], result: string): Turn {
    try {
      const { value, done } = this.#plot.next(result);
      if (done === true) {
        this.isOver = true;
        return { say: value };
      }
      const call = tools.find(({ ours }) => ours === value.tool);
      if (!call) return this.#failed(`no tool ${value.tool} among ${tools.map(({ name }) => name).join(', ')}`);
      return { call, input: value.input, id: `call_${this.#turns.length + 1}` };
    } catch (error) {
      if (!(error instanceof PlotError)) throw error;
      return this.#failed(error.message);
    }
  }

  #failed(why: string): Turn {
    this.failure ??= why;
    return { say: `The plot ends here: ${why}` };
  }
}
