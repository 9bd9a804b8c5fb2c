import type { ByteStream } from '../common/byte-stream.ts';
import type { Host } from '../machine/host.ts';
import type { Spending } from '../state/state-store.ts';

/** The hosts that may be reached, in the normal form of the configuration's rules: `host.example.org`, `*.example.org`, `host.example.org:8443`. */
export interface GatePolicy {
  /** Without a port a rule means port 443. A star stands for one or more labels, never for none. Empty: nothing may be reached. */
  readonly allow: readonly string[];
  /** Wins over `allow`. Without a port a rule means every port. */
  readonly deny: readonly string[];
  /**
   * Rules without a star that allow, too, and whose hosts may have addresses of private networks. Never those of this machine, of its
   * loopback, of links, or of services that clouds have there. Absent: none.
   */
  readonly allowPrivate?: readonly string[];
}

/**
 * What became of a connection. Host and port are words of programs in a sandbox, of which no more is known than that they have the
 * form of a name and a number; they are absent where the request did not even have that.
 */
export type GateReport =
  | {
      readonly type: 'refused';
      readonly host?: string;
      readonly port?: number;
      /** The rule that forbids it, where one does. */
      readonly rule?: string;
      /** One sentence. */
      readonly reason: string;
      /** A rule allows it, and its name leads to a private network: a rule of `allowPrivate` would let it through. */
      readonly isPrivate?: true;
      /** The address for which it was refused, as a literal. For the person: the sandbox is not told. */
      readonly address?: string;
    }
  | {
      readonly type: 'opened';
      readonly host: string;
      readonly port: number;
      /** The rule that allows it. */
      readonly rule: string;
      /** The address that was dialled, as a literal. */
      readonly address: string;
      /** The address is none of the Internet's, and a rule of `allowPrivate` let it through. */
      readonly isPrivate?: true;
      /** The machine from which it was dialled, where that is not the one that the gate runs on. */
      readonly from?: string;
      /** `HOST:PORT` of the person's own proxy; then the address is its, and where the name leads is its choice. */
      readonly proxy?: string;
    }
  | {
      readonly type: 'closed';
      readonly host: string;
      readonly port: number;
      readonly sentBytes: number;
      readonly receivedBytes: number;
      /** Why it was cut. Absent when it ended by itself. */
      readonly reason?: string;
    }
  /** So many refusals were left out since the last report of one, because there were too many in a short time or they could not be written. */
  | { readonly type: 'left-out'; readonly count: number };

/** The ledger of a gate: it writes down and counts, and the opener of the gate keeps it. */
export interface GateLedger {
  /**
   * Writes down what became of a connection. A gate lets nothing through before its `opened` is written, and waits for no other.
   *
   * @throws whatever says that it could not be written: nothing may be let through then
   */
  report(report: GateReport): Promise<void>;
  /**
   * Takes something out of a budget that outlives the gate. A gate asks before it does what costs something.
   *
   * @returns whether there was enough left
   * @throws whatever says that it is not known: then there is not enough left
   */
  spend(spending: Spending): Promise<boolean>;
}

/** One sandbox's way out. Disposing ends all its connections and resolves when they have ended. */
export interface OpenGate extends AsyncDisposable {
  /**
   * Answers one connection that a program of the sandbox opened, and disposes it. Resolves when it has ended; never rejects.
   * Everything that is read from it is hostile.
   */
  serve(stream: ByteStream): Promise<void>;
}

/**
 * The way from a sandbox to the network: it speaks as a proxy for HTTPS (`CONNECT`) with the programs inside, reaches nothing but
 * what the policy allows, and resolves names itself, after a rule allowed them. Whatever else is asked for is refused with a text
 * that a person understands.
 *
 * Who opened a connection is known by the gate that it came to: there are no credentials, and one gate per sandbox.
 */
export interface NetworkGate {
  /**
   * @param policy rules that the configuration has parsed
   * @param books told of what is looked up, opened and closed, each, and of what is refused before that, at most some hundred times a
   * minute; asked for budgets
   * @param from the machine on which names are looked up and from which connections are made. @defaultValue the one that the gate runs on
   */
  open(policy: GatePolicy, books: GateLedger, from?: Host): Promise<OpenGate>;
}
