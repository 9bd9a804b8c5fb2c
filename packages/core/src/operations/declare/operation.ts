import type * as z from 'zod';
import type { OutputListener, RunningCommand } from '../../channel/channel-command.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { RiskyChange } from '../../ports/source-control/persons-repository.ts';
import type { ShownPlan } from '../../use-cases/review/shown-plan.ts';
import type { ShowUnseen } from '../../use-cases/review/accept-work.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { PersonsGift } from '../../use-cases/create/create-options.ts';

/** Gives each use case, made once. What an operation asks for is what its program can reach. */
export interface UseCases {
  get<UseCase extends object>(useCase: new (...args: never[]) => UseCase): UseCase;
}

/** What a caller may hear while an operation goes on. An operation calls the ones that it has something for. */
export interface OperationOptions extends ProgressOptions {
  /** A promise holds the command back until it resolves. What it throws ends the command, and the call rejects with it. */
  readonly onOutput?: OutputListener | undefined;
  /** When a command has been started, with what sends it signals. */
  readonly onStart?: ((running: RunningCommand) => void) | undefined;
  /** Before anything is asked or changed. */
  readonly onPlan?: ((plan: ShownPlan) => void) | undefined;
  /** Before an apply or merge asks: shows a person what they have not seen. Without it, changes that nobody was shown at all are taken unasked. */
  readonly onUnseen?: ShowUnseen | undefined;
  /** The files of an export that can run code, before anything is asked or written. */
  readonly onRisky?: ((risky: readonly RiskyChange[]) => void) | undefined;
  /** A fork of several has been made, and stays whatever becomes of the rest. */
  readonly onFork?: ((fork: SandboxRecord) => void) | undefined;
  /** Asks the person for what only they can give. Absent where nobody can be asked. */
  readonly ask?: ((gift: PersonsGift) => Promise<boolean>) | undefined;
}

/**
 * One thing a user can ask for, declared once. The library method, the command of the command line and the tool for agents
 * derive their names, words, types, defaults and checks from it.
 */
export interface Operation<Input extends z.ZodObject = z.ZodObject, Result = unknown> {
  /** Noun-verb, kebab-case: `sandbox-create`. A tool that agents know from elsewhere has one word: `bash`. */
  readonly name: string;
  /** One sentence without a full stop, for a reader who sees nothing else. */
  readonly summary: string;
  /** `read` changes nothing, `write` changes a sandbox, `host` changes the user's repository or destroys work. */
  readonly effect: 'read' | 'write' | 'host';
  /** How it is asked for on the command line; absent when it is for programs alone. */
  readonly command?: CommandForm;
  /** The fields that it takes, with their words. */
  readonly input: Input;
  /** What `--json` prints: plain JSON of a stable shape, or a promise of it. Absent when the result is alive. */
  document?(result: Result): unknown;
  /** Does it. The input is checked before. */
  execute(useCases: UseCases, input: z.output<Input>, options?: OperationOptions): Promise<Result>;
}

/** How an operation is called on the command line. */
export interface CommandForm {
  /** The word before the verb, for commands that belong together: `snapshot create`. */
  readonly group?: string;
  readonly verb: string;
  /** Keys of the input that are given by their place, in order; every other key is an option. */
  readonly positional: readonly string[];
  /** Command lines without the program's name. */
  readonly examples: readonly [string, ...string[]];
}

/** The input of an operation as `parseInput` gives it. */
export type Parsed<Asked> = Asked extends { readonly input: infer Input extends z.ZodObject } ? z.output<Input> : never;

/** Infers input and result of an operation from its members. */
export function operation<Input extends z.ZodObject, Result>(
  declared: Operation<Input, Result>,
): Operation<Input, Result> {
  return declared;
}
