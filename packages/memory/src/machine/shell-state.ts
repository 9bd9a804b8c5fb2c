import type { MachineProcess } from './machine-process.ts';
import type { Command, List } from './shell-syntax.ts';

/** What builtins see of a shell, and change. */
export interface ShellState {
  readonly process: MachineProcess;
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly functions: ReadonlyMap<string, Command>;
  /** What programs that it starts get. */
  readonly environment: Map<string, string>;
  parameters: readonly string[];
  status: number;
  onExit: string | undefined;
  run(list: List): Promise<number>;
  /** Starts a program as a process of its own. */
  program(name: string, args: readonly string[]): MachineProcess;
}
