import type { Command } from '../../domain/processes/command.ts';
import type { TerminalSize } from '../../ports/common/process.ts';

/** A program that a person runs inside, with a terminal where there is one. */
export interface AttachInput {
  readonly sandbox: string;
  /** @defaultValue an interactive shell: bash where there is one, else sh */
  readonly command?: Command | undefined;
  readonly terminal?: TerminalSize | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Absolute inside the sandbox. @defaultValue the workdir */
  readonly cwd?: string | undefined;
  /** The tool that called: the revision's subject begins with it. @defaultValue 'shell' */
  readonly tool?: string | undefined;
  /** The part of the command that a person recognises, where a program wrapped it. @defaultValue as `commandSubject` finds it */
  readonly subject?: string | undefined;
  /** The agent's own id of the call, as `CALL_ID` has it. */
  readonly callId?: string | undefined;
  /** Errors go where output goes, in the order in which they are written. @defaultValue false */
  readonly isMerged?: boolean | undefined;
  /**
   * It reads end of file at once, unless it has a terminal. It then goes through the exec channel as a command does, which costs a fraction;
   * a program that is not there ends with 127. @defaultValue false
   */
  readonly noInput?: boolean | undefined;
  /** Processes that it leaves in the background end before it is recorded. @defaultValue false */
  readonly endsAll?: boolean | undefined;
  /** Its changes are recorded while it works too, whenever nothing changed for a second. @defaultValue false */
  readonly recordsMeanwhile?: boolean | undefined;
  /** The revision's subject, in the caller's words. */
  readonly message?: string | undefined;
}
