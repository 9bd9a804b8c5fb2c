/** A program as the client asked for it, and shows it in lists. */
export interface ProcessConfig {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly envs: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly tag?: string | undefined;
}
