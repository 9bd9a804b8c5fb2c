import type { CallOptions, OutputChunk, TerminalSize } from '@litterbox/core/provider';

/** A program that an engine is asked to start. */
export interface ExecRequest {
  /**
   * Text for a POSIX shell of the container, raw bytes as in `domain/text/raw-text.ts`.
   *
   * @param hasFramedStdin the engine cannot end stdin: it comes as lengths, each a line, and bytes, and 0 ends it
   */
  script(hasFramedStdin: boolean): string;
  /** `NAME=value`, for the shell. It has to stay out of arguments, which every user of the machine reads. */
  readonly environment: readonly string[];
  readonly hasTerminal: boolean;
  readonly hasStdin: boolean;
}

/** One program that an engine runs in a container: bytes both ways, and how it ended. */
export interface RawExec {
  /** By which the engine knows it; empty where it has no word for it. */
  readonly id: string;
  /** Its output, with back-pressure; with a terminal all of it is `stdout-data`. Ends, or throws, when no more comes. */
  readonly output: AsyncIterable<OutputChunk>;
  /** Resolves when nothing goes either way any more. */
  readonly closed: Promise<void>;
  /** Resolves when the bytes were taken, or nobody takes any. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  /**
   * How it ended, asked once the output has: its exit code, 0 to 255; undefined when it did not end by itself.
   *
   * @throws LitterboxError `UNAVAILABLE` when nobody can say
   */
  exitCode(): Promise<number | undefined>;
  resize(size: TerminalSize): Promise<void>;
  /** Lets go of it at once. */
  destroy(): void;
}

/** An engine, as one of its programs needs it. */
export interface ExecEngine {
  /** The provider's key, for errors. */
  readonly provider: string;
  /** How people call the engine. */
  readonly title: string;
  /** Marks our own words in the output, where what starts the program has one already. @defaultValue one that is drawn */
  readonly word?: string;
  start(request: ExecRequest, options?: CallOptions): Promise<RawExec>;
}
