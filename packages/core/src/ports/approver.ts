import type { CallOptions } from './call.ts';

/** A question to a person, with what has to be seen to answer it. */
export interface ApprovalRequest {
  /** What is asked, one question. */
  readonly question: string;
  /** What a person must see to decide, one line each; hostile text already made visible. */
  readonly details: readonly string[];
}

/** Asks the person. Without a person to ask, it answers no. */
export interface Approver {
  approve(request: ApprovalRequest, options?: CallOptions): Promise<boolean>;
}
