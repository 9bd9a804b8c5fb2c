import {
  type AuditStart,
  type JournalEntry,
  type LitterboxEvent,
  type RepositoryId,
  type SandboxRecord,
} from '@litterbox/core/provider';

/** Who has a state open: a program, which may end before what it began. */
export interface Owner {
  isAlive: boolean;
}

/** One resource that somebody holds or waits for. */
export interface LeaseSlot {
  /** Also while it goes from one to the next. */
  isTaken: boolean;
  holder: { readonly purpose: string; readonly owner: Owner } | undefined;
  readonly waiting: (() => void)[];
}

/** A link of the audit chain: the start of a call, or the end of the one with that number. */
export interface ChainLink {
  readonly sequence: number;
  readonly hash: string;
  readonly start?: Omit<AuditStart, 'isRead'> & { readonly atMs: number };
  readonly end?: {
    readonly starts: number;
    readonly outcome: 'ok' | 'error' | 'unknown';
    readonly result: Readonly<Record<string, unknown>>;
    readonly durationMs?: number;
  };
}

/** What is kept of one user, whoever has it open. In the place of a file. */
export class StateShelf {
  records: SandboxRecord[] = [];
  journal: { entry: JournalEntry; owner: Owner }[] = [];
  readonly events: LitterboxEvent[] = [];
  trust: { readonly repositoryId: RepositoryId; readonly contentHash: string; readonly text: string }[] = [];
  readonly leases = new Map<string, LeaseSlot>();
  readonly chain: ChainLink[] = [];
  /** Calls that have begun and not ended, by the number of their start. */
  readonly open = new Map<number, Owner>();
  spent: {
    readonly repositoryId: RepositoryId;
    readonly name: string;
    readonly item: string;
    amount: number;
    endsMs: number;
  }[] = [];
}
