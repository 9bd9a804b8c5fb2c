import type { EndpointPolicy } from '../../domain/secrets/endpoint-policy.ts';
import type { OpenGate } from './network-gate.ts';

/** A request of a program inside. Method and path have the form of such, and nothing more is known of them. */
export interface EndpointRequest {
  readonly method: string;
  /** Without its query, at most 200 characters. */
  readonly path: string;
}

/** Tokens that a server counted for one answer or for many. */
export interface ModelTokens {
  readonly input: number;
  readonly output: number;
  /** The answer ended before the server had counted: computed from its length. */
  readonly isEstimate?: boolean;
}

/** The end of a request. */
export interface EndpointOutcome {
  /** That the server answered, of HTTP. Absent when it did not. */
  readonly status?: number;
  /** Sizes of bodies, in bytes. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** As the answer counted them, or as its length says. Absent when it has none, or could not be read. */
  readonly tokens?: ModelTokens;
  /** Why it was refused or cut, in a sentence of ours. Absent when it ended by itself. */
  readonly reason?: string;
}

/** Ends what {@link EndpointBooks.begin} began. Never rejects. */
export type EndRequest = (outcome: EndpointOutcome) => Promise<void>;

/** The opener of an endpoint answers these. */
export interface EndpointBooks {
  /**
   * Reads the secret.
   *
   * @throws LitterboxError whose message holds no secret
   */
  readSecret(): Promise<string>;
  /** The server did not take the secret: the next request needs it read anew. */
  forgetSecret(): void;
  /**
   * Writes down that a request goes out. Nothing goes out before it is written.
   *
   * @returns how its end is written down; `often` when there were too many within a minute, `spent` when the budget is
   * @throws whatever says that it could not be written
   */
  begin(request: EndpointRequest): Promise<EndRequest | 'often' | 'spent'>;
}

/**
 * The way from a sandbox to exactly one server over TLS. It speaks HTTP with programs inside, takes whatever they say of credentials out
 * of their requests, and sets the secret of the policy. Only listed methods and paths go through, nothing is followed to another server,
 * and bodies stream both ways. Everything that is read from a connection is hostile.
 */
export interface EndpointGate {
  /** Opens no connection before a request comes. */
  open(policy: EndpointPolicy, books: EndpointBooks): Promise<OpenGate>;
}
