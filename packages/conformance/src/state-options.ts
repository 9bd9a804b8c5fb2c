import { type AuditLog, type StateStore } from '@litterbox/core/provider';
import type { TestRunner } from './runner.ts';

/** Everything that is kept of one user, as one program has it open. */
export interface OpenedState {
  readonly state: StateStore;
  readonly audit: AuditLog;
}

/** The state of one test: empty at first, and its own. Disposing closes all that was opened, and removes it. */
export interface StateFixture extends AsyncDisposable {
  /** Opens it once more, as another program of the same user would have it. */
  open(): OpenedState;
  /** Closes all that was opened; what they wrote stays. */
  close(): Promise<void>;
}

/** What {@link describeStateStore} and {@link describeAuditLog} need of an adapter. */
export interface StateOptions {
  readonly name: string;
  readonly runner: TestRunner;
  /** Makes a state for one test. */
  readonly fixture: () => StateFixture;
}
