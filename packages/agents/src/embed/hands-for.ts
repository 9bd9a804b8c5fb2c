import { defaultStateDirectory, type Sandbox } from 'litterbox';
import { disposeAll } from '../dispose-all.ts';
import { claudeSeat } from '../seats/claude.ts';
import { codexSeat } from '../seats/codex.ts';
import type { OpenedSeat, Seat } from '../seats/seat.ts';
import { assertTried, type TriedProgram } from '../trial/tried-programs.ts';
import { type ClaudeOptions, startedClaudes } from './claude-options.ts';
import { type CodexOptions, codexProgram } from './codex-options.ts';
import { toolsProgram } from './tools-program.ts';

/** How an agent of a program's own gets its hands. */
export interface HandsOptions {
  /** Absolute path of the agent's program, such as the one that its SDK brings. @defaultValue the first in `PATH` */
  readonly program?: string;
  /** Where `PATH` and the agent's home are looked up. @defaultValue that of this process */
  readonly environment?: NodeJS.ProcessEnv;
  /** As `createLitterbox` was given it. @defaultValue as there */
  readonly stateDirectory?: string;
  /** Other agents may work in the sandbox at the same time. */
  readonly share?: boolean;
  /**
   * For Claude: how the tools for files are served over standard input and output, or that there are none, and Claude works by commands
   * alone. The server of Litterbox knows no providers but its own: for a sandbox of another one it takes a server of yours, or `'none'`.
   *
   * @defaultValue the server of Litterbox
   */
  readonly tools?: readonly [string, ...string[]] | 'none';
  /** Told when a version of the program is tried, which takes some seconds, once. */
  readonly onTrial?: (version: string) => void;
}

/** An agent's hands in a sandbox, until it is disposed of: what the agent left running there ends then. */
export interface HandsFor<Options> extends AsyncDisposable {
  /** For the agent's SDK. Keys of your own go beside these, and none of them in their place. */
  readonly options: Options;
  /** The repository on this machine: the agent works in it as if its files were those of the sandbox. */
  readonly root: string;
}

/**
 * Hands in a sandbox for an agent that this program runs by its SDK: `claude` for `query()` of `@anthropic-ai/claude-agent-sdk`, `codex` for
 * `new Codex()` of `@openai/codex-sdk`. The agent's program, its login and its model stay here.
 *
 * @throws LitterboxError `BUSY` while another agent works in the sandbox, `UNSUPPORTED` when this version of the program would work here,
 *   `TOOL_MISSING`, `CONFLICT`
 */
export async function handsFor(
  sandbox: Sandbox,
  agent: 'claude',
  options?: HandsOptions,
): Promise<HandsFor<ClaudeOptions>>;
export async function handsFor(
  sandbox: Sandbox,
  agent: 'codex',
  options?: Omit<HandsOptions, 'tools'>,
): Promise<HandsFor<CodexOptions>>;
export async function handsFor(
  sandbox: Sandbox,
  agent: 'claude' | 'codex',
  given: HandsOptions = {},
): Promise<HandsFor<ClaudeOptions | CodexOptions>> {
  const { environment = process.env, stateDirectory = defaultStateDirectory(), share = false } = given;
  const seat = agent === 'claude' ? claudeSeat : codexSeat;
  seat.refuse(environment, []);
  const program = await assertTried(seat, environment, stateDirectory, given.onTrial ?? (() => {}), given.program);
  const parts: AsyncDisposable[] = []; // undone from the last to the first
  try {
    if (!share) parts.push(await sandbox.seat(agent));
    const root = sandbox.record.repositoryRoot;
    const { tools = toolsProgram({ root, sandbox: sandbox.name, agent, stateDirectory }) } = given;
    const place = { hands: sandbox, root, shell: await sandbox.shell() };
    const opened = await seat.open(tools === 'none' ? place : { ...place, tools });
    parts.push(opened);
    const made = await optionsFor(agent, seat, program, opened, root);
    parts.push(made);
    return { options: made.options, root, [Symbol.asyncDispose]: async () => await disposeAll(parts) };
  } catch (error) {
    await disposeAll(parts).catch(() => {}); // the reason is what went wrong first
    throw error;
  }
}

async function optionsFor(
  agent: 'claude' | 'codex',
  seat: Seat,
  program: TriedProgram,
  opened: OpenedSeat,
  root: string,
): Promise<AsyncDisposable & { readonly options: ClaudeOptions | CodexOptions }> {
  return agent === 'claude' ? startedClaudes(seat, program, opened, root) : await codexProgram(program, opened);
}
