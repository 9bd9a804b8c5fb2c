import type { EndpointBooks, EndpointOutcome, EndpointRequest, EndRequest } from '@litterbox/core/provider';
import type { Refusal } from './refusal.ts';

const MAX_PATH_CHARACTERS = 200;

/** The entry of one request: begun once, ended once. */
export class RequestLog {
  sentBytes = 0;
  receivedBytes = 0;
  status: number | undefined;
  readonly #end: EndRequest;
  #isOver = false;

  private constructor(end: EndRequest) {
    this.#end = end;
  }

  /** Begins the entry, or says why nothing may go out. */
  static async begin(books: EndpointBooks, { method, path }: EndpointRequest): Promise<RequestLog | Refusal> {
    try {
      const end = await books.begin({ method, path: path.slice(0, MAX_PATH_CHARACTERS) });
      return end ? new RequestLog(end) : { status: 429, reason: 'there were too many requests within a minute' };
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
      sentBytes: this.sentBytes,
      receivedBytes: this.receivedBytes,
      ...(reason !== undefined && { reason }),
    };
    void this.#end(outcome);
  }
}
