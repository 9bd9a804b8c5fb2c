/** A refusal of the server, in the words of the command line. */
export class Refused extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

const KEPT = 'session';

/** The way to the server. Its token lives in the window: no other port of this machine is ever sent it, as it would be a cookie. */
export class Server {
  readonly #session: string;

  private constructor(session: string) {
    this.#session = session;
  }

  /** Hands the link's token over, or goes on with the session that this window has. @throws Refused */
  static async open(): Promise<Server> {
    const link = location.hash.slice(1);
    if (link !== '') history.replaceState(undefined, '', location.pathname);
    if (link !== '') {
      const answer = await fetch('/api/session', post(link, {}));
      if (answer.ok) sessionStorage.setItem(KEPT, ((await answer.json()) as { readonly session: string }).session);
    }
    const session = sessionStorage.getItem(KEPT);
    if (session === null) throw noSession();
    return new Server(session);
  }

  async get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    return (
      await this.#ask(path, { headers: headersOf(this.#session), ...(signal && { signal }) })
    ).json() as Promise<Answer>;
  }

  async post<Answer>(path: string, body: object, signal?: AbortSignal): Promise<Answer> {
    return (
      await this.#ask(path, { ...post(this.#session, body), ...(signal && { signal }) })
    ).json() as Promise<Answer>;
  }

  /** Objects of which each is a line. */
  async *lines<Line>(path: string, signal: AbortSignal): AsyncGenerator<Line, void, undefined> {
    const answer = await this.#ask(path, { headers: headersOf(this.#session), signal });
    const reader = (answer.body as ReadableStream<Uint8Array<ArrayBuffer>>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) yield JSON.parse(part) as Line;
    }
  }

  async #ask(path: string, request: RequestInit): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(path, request);
    } catch (error) {
      if (request.signal?.aborted) throw error;
      throw new Refused(
        'GONE',
        'The page is not served any more.',
        'Run litterbox review again, and open its new link.',
      );
    }
    if (answer.ok) return answer;
    if (answer.status === 401) throw noSession();
    const { error } = (await answer.json().catch(() => ({}))) as {
      error?: { code: string; message: string; hint?: string };
    };
    throw new Refused(
      error?.code ?? 'INTERNAL',
      error?.message ?? `The server answered ${answer.status}.`,
      error?.hint,
    );
  }
}

const noSession = () =>
  new Refused(
    'NO_SESSION',
    'This link was used already, or the page was started anew.',
    'A link opens one window. The terminal shows the next one.',
  );
const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });
const post = (token: string, body: object): RequestInit => ({
  method: 'POST',
  headers: { ...headersOf(token), 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** A failure as the page says it. */
export function wordsOf(error: unknown): string {
  if (error instanceof Refused) return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
