import type {
  EndpointBooks,
  EndpointOutcome,
  EndpointRequest,
  EndRequest,
  ModelTokens,
} from '@litterbox/core/provider';
import type { Refusal } from './refusal.ts';

const MAX_PATH_CHARACTERS = 200;

/** The entry of one request: begun once, ended once. */
export class RequestLog {
  sentBytes = 0;
  receivedBytes = 0;
  status: number | undefined;
  tokens: ModelTokens | undefined;
  readonly #end: EndRequest;
  #isOver = false;

  private constructor(end: EndRequest) {
    this.#end = end;
  }

  /** Begins the entry, or says why nothing may go out. */
  static async begin(books: EndpointBooks, { method, path }: EndpointRequest): Promise<RequestLog | Refusal> {
    try {
      const end = await books.begin({ method, path: path.slice(0, MAX_PATH_CHARACTERS) });
      if (end === 'often') return { status: 429, reason: 'there were too many requests within a minute' };
      if (end === 'spent') return { status: 402, reason: 'the budget of this sandbox at this endpoint is spent' };
      return new RequestLog(end);
    } catch {
      return {
        status: 503,
        reason: 'what goes out cannot be written down at the moment, for example because the disk is full',
      };
    }
  }

  /** @param reason why it was refused or cut. Absent: it ended by itself */
  end(reason?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const outcome: EndpointOutcome = {
      ...(this.status !== undefined && { status: this.status }),
      ...(this.tokens && { tokens: this.tokens }),
      sentBytes: this.sentBytes,
      receivedBytes: this.receivedBytes,
      ...(reason !== undefined && { reason }),
    };
    void this.#end(outcome);
  }
}
