import type { ExecPlace } from '../exec-place.ts';

/** A kind of agent that can work with its hands in a sandbox while its program stays on the person's machine. */
export interface Seat {
  /** As on the command line. */
  readonly id: string;
  readonly title: string;
  /** The person's own program, looked up in PATH. */
  readonly program: string;
  /** How the vendor's own runner of sessions starts it: the variable that names the program, and the descriptor that it gets besides the usual three. */
  readonly runner?: { readonly variable: string; readonly descriptor: number };
  /** Words of the program that would take the hands out again, and why. */
  refuse(environment: NodeJS.ProcessEnv, args: readonly string[]): void;
  /** Makes what the program is pointed at. Nothing of it outlives the disposal, and nothing of the person's home is written. */
  open(place: SeatPlace): Promise<OpenedSeat>;
  readonly trial: Trial;
}

/** What a seat leads to. */
export interface SeatPlace extends ExecPlace {
  /** Serves the tools of Litterbox for that sandbox over standard input and output. For agents whose own tools for files stay out of it. */
  readonly tools?: readonly [string, ...string[]];
}

/** How the program is started. */
export interface OpenedSeat extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  /** Before the person's own. */
  readonly args: readonly string[];
}

/** How to see, with a model of our own and without the person's login, where the program's commands run. */
export interface Trial {
  /** A turn of the model that runs a command. */
  answer(command: string, body: unknown): { readonly type: string; readonly body: string } | undefined;
  /** What the program needs in its empty home to talk to that model alone. */
  prepare(home: string, modelUrl: string): Readonly<Record<string, string>>;
  /** Runs one task without a terminal. */
  readonly args: readonly string[];
}
