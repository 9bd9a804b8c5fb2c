import type { CallOptions } from '../common/call.ts';

/** A question to a person, with what has to be seen to answer it. */
export interface ApprovalRequest {
  /** The question. */
  readonly question: string;
  /** Lines that a person must see to decide; hostile text is visible already. */
  readonly details: readonly string[];
}

/** Asks the person. Without a person to ask, it answers no. */
export interface Approver {
  approve(request: ApprovalRequest, options?: CallOptions): Promise<boolean>;
}
