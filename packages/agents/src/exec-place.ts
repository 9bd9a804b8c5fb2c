import type { Hands } from './hands.ts';

/** What the sandbox is to an agent whose program is outside. */
export interface ExecPlace {
  readonly hands: Hands;
  /** The repository on the person's machine: the agent names its paths. */
  readonly root: string;
  /** The shell inside, as a path or as PATH finds it. */
  readonly shell: string;
}
