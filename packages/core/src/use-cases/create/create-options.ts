import type { ProgressOptions } from '../../ports/common/call.ts';
import type { BaseSource, HeldBack } from '../../ports/source-control/persons-repository.ts';
import type { Lease, SandboxRecord } from '../../ports/state/state-store.ts';
import type { PolicyOverrides } from '../decide/decide-policy.ts';
import type { MissingDependencies } from '../decide/missing-dependencies.ts';

/** A person's choices for a new sandbox; the rest comes from the configuration. */
export interface CreateSandboxInput {
  /** @defaultValue a made-up one that no other sandbox of the repository has */
  readonly name?: string | undefined;
  /** @defaultValue the configuration's `source`, else `head` */
  readonly from?: BaseSource | undefined;
  /** @defaultValue the configuration's, else the first usable */
  readonly provider?: string | undefined;
  /** Which of the user's machines it is made on: of several the one with the most room. @defaultValue the provider's, else the configuration's, else this one */
  readonly hosts?: readonly string[] | undefined;
  readonly overrides?: PolicyOverrides | undefined;
  /** Run the setup whatever is kept, and keep nothing of it. @defaultValue false */
  readonly freshSetup?: boolean | undefined;
  /** Up to 32, by their names. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** It goes with this program: `hold` of the result keeps it. Nothing is kept when its setup fails. @defaultValue false */
  readonly isEphemeral?: boolean | undefined;
  /** Remove everything again when the setup command fails. @defaultValue false: kept for inspection as `setup-failed` */
  readonly rollback?: boolean | undefined;
}

/** A question to the person while a call goes on. It goes on without when they say no. */
export interface PersonsGift {
  /** The same for the same question: what an answer belongs to. */
  readonly key: string;
  readonly question: string;
}

/** How a sandbox is made. */
export interface CreateOptions extends ProgressOptions {
  /** Asks the person. Called before anything is made; when it rejects, nothing is. Absent where nobody can be asked. */
  readonly ask?: ((gift: PersonsGift) => Promise<boolean>) | undefined;
}

/** The new sandbox, and what a person should hear about how it was made. */
export interface CreateSandboxResult {
  /** The sandbox as it was when it was ready. */
  readonly record: SandboxRecord;
  /** Keeps an ephemeral one while it is held. Once it is disposed of, or the program has ended, `reconcile` deletes the sandbox. */
  readonly hold?: Lease;
  /** The name lost letters on the way to the slug. */
  readonly isRenamed: boolean;
  /**
   * Uncommitted changes that are not in the sandbox: the first of them, and how many. git looks at every file once this is read,
   * and not before, which in a large repository takes longer than making a sandbox does.
   */
  readonly leftOut: Promise<LeftOut>;
  /** Uncommitted files that would be in the sandbox if they did not look like secrets. Absent when there are none. */
  readonly heldBack?: HeldBack;
  /** Dependencies of the project that are not inside. Absent when it has none, and when they are. */
  readonly missingDependencies?: MissingDependencies;
  /** Keys of the configuration that nothing knows, with the nearest that is known. */
  readonly warnings: readonly string[];
}

export interface LeftOut {
  readonly paths: readonly string[];
  readonly total: number;
}
