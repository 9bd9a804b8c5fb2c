import { isLitterboxError } from 'litterbox';
import * as z from 'zod';
import { ExecError } from './exec-error.ts';
import type { ExecPlace } from '../exec-place.ts';
import { failureText } from '../failure-text.ts';
import { ExecSession, type Send } from './exec-session.ts';
import { ERRORS, isMethod, type Method, message, params, type ParamsOf } from './messages.ts';

/** A client that lost its connection may come back for so long, and finds its programs; Codex tries for 45 seconds. */
const RESUME_MS = 60_000;
/** Requests of one client that are worked on at once; the others wait. */
const MAX_AT_ONCE = 64;

/** One connection of a client. */
export interface ExecConnection {
  /** A message as it came. Resolves when another one may come. */
  receive(text: string): Promise<void>;
  closed(): void;
}

/** Answers Codex's requests for programs and files with those of one sandbox, and of nothing else. */
export class ExecServer {
  readonly #place: ExecPlace;
  readonly #agent: string;
  readonly #sessions = new Map<string, ExecSession>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** @param agent what called, in the log. @defaultValue 'codex' */
  constructor(place: ExecPlace, agent = 'codex') {
    this.#place = place;
    this.#agent = agent;
  }

  connect(send: Send): ExecConnection {
    let session: ExecSession | undefined;
    const atWork = new Set<Promise<void>>();
    const reply = async (id: string | number, text: () => Promise<object>) => {
      try {
        await send({ id, result: await text() });
      } catch (error) {
        await send({ id, error: errorOf(error) });
      }
    };
    return {
      receive: async (text) => {
        const got = parsed(text);
        if (!got) return await send({ id: -1, error: { code: ERRORS.invalidRequest, message: 'Not a message.' } });
        const { id, method } = got;
        if (id === undefined) return; // `initialized`, and whatever later versions tell
        const working = reply(id, async () => {
          if (!isMethod(method)) throw new ExecError(ERRORS.unknownMethod, `Litterbox does not know ${method}.`);
          if (method === 'initialize') {
            if (session) throw new ExecError(ERRORS.invalidRequest, 'This connection is initialized.');
            session = this.#session(checked(method, got.params).resumeSessionId ?? undefined);
            session.connect(send);
            return session.initialized;
          }
          if (!session) throw new ExecError(ERRORS.invalidRequest, 'Send initialize first.');
          return await answered(session, method, got.params);
        });
        atWork.add(working);
        void working.catch(() => {}).finally(() => atWork.delete(working));
        if (atWork.size >= MAX_AT_ONCE) await Promise.race(atWork);
      },
      closed: () => {
        if (!session) return;
        session.disconnect();
        const { id } = session;
        if (!this.#sessions.has(id)) return; // the server was closed before its sockets were
        this.#timers.set(
          id,
          setTimeout(() => void this.#end(id), RESUME_MS),
        );
      },
    };
  }

  /** Ends every program that a client started. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map(async (id) => await this.#end(id)));
  }

  #session(resumed: string | undefined): ExecSession {
    if (resumed === undefined) {
      const session = new ExecSession(this.#place, this.#agent);
      this.#sessions.set(session.id, session);
      return session;
    }
    const session = this.#sessions.get(resumed);
    if (!session || session.isConnected) throw new ExecError(ERRORS.invalidRequest, `There is no session ${resumed}.`);
    clearTimeout(this.#timers.get(resumed));
    this.#timers.delete(resumed);
    return session;
  }

  async #end(id: string): Promise<void> {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.close();
  }
}

function parsed(text: string): z.output<typeof message> | undefined {
  try {
    return message.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function checked<Name extends Method>(method: Name, given: unknown): ParamsOf<Name> {
  const result = params[method].safeParse(given);
  if (result.success) return result.data as ParamsOf<Name>;
  throw new ExecError(ERRORS.invalidParams, `${method}: ${z.prettifyError(result.error)}`);
}

async function answered(session: ExecSession, method: Exclude<Method, 'initialize'>, given: unknown): Promise<object> {
  const asked = checked(method, given);
  if (asked && 'sandbox' in asked && asked.sandbox) throw wallInside();
  return await session.answer(method, asked);
}

/** A rule of Codex's own sandbox would be obeyed by nobody inside. */
const wallInside = () =>
  new ExecError(
    ERRORS.internal,
    'Codex asks for a sandbox of its own inside the sandbox of Litterbox, which is not enforced there. Start Codex with --sandbox danger-full-access: it reaches nothing but the sandbox of Litterbox.',
  );

function errorOf(error: unknown): { readonly code: number; readonly message: string } {
  if (error instanceof ExecError) return { code: error.code, message: error.message };
  const isAbsent = isLitterboxError(error, 'NOT_FOUND') || isLitterboxError(error, 'NOT_A_DIRECTORY');
  return { code: isAbsent ? ERRORS.notFound : ERRORS.internal, message: failureText(error) };
}
