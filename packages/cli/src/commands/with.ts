import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { relative } from 'node:path';
import { assertTried, endTree, type Seat, SEATS } from '@litterbox/agents';
import {
  createSandbox,
  type CreateSandboxResult,
  dependencyAdvice,
  isBare,
  isLitterboxError,
  LitterboxError,
  readLog,
  reconcileState,
  slugify,
  visible,
  visibleName,
} from '@litterbox/core';
import type { Litterbox, Sandbox } from 'litterbox';
import { defaultStateDirectory } from 'litterbox/performer';
import { BARE_IMAGE } from '../bare-image.ts';
import { ownPath } from '../agents/own-path.ts';
import { conclude } from '../agents/conclude.ts';
import { askOrCancel } from '../terminal/ask.ts';
import { keepTerminal } from '../terminal/terminal-modes.ts';
import type { Context } from '../context.ts';
import { loadForAgent } from '../load-litterbox.ts';
import { leftBehind } from '../left-behind.ts';
import type { Perform } from '../perform.ts';
import { repositoryRoot } from '../repository-root.ts';

/** Which sandbox an agent works in. */
export interface SandboxFlags {
  readonly sandbox?: string;
  readonly provider?: string;
  readonly host?: string;
  readonly image?: string;
  readonly from?: string;
}

interface Flags extends SandboxFlags {
  readonly continue?: boolean;
  readonly share?: boolean;
}

/** `litterbox with AGENT`: the person's own agent in the person's own terminal, with its hands in a sandbox. */
export const withAgent: Perform = async (context, [id = '', ...given], flags: Flags) => {
  const { talk, directory, signal } = context;
  if (talk.json)
    throw new LitterboxError('ARG_UNKNOWN', 'An agent has the terminal, so there is no document to print.', {
      operation: 'cli.with',
      hint: 'Leave out --json; litterbox log NAME --json tells afterwards what it did.',
    });
  const seat = SEATS.find((one) => one.id === id);
  if (!seat) throw new Error(`no seat ${id}`); // the choices are checked before
  const args = given.filter((word) => word !== undefined);
  seat.refuse(process.env, args);
  const root = repositoryRoot(directory) ?? directory;
  // A runner of sessions names the program and hands it a descriptor.
  const meant = seat.runner && process.env[seat.runner.variable];
  const [litterbox, program] = await Promise.all([
    loadForAgent(directory, askOrCancel, id),
    assertTried(
      seat,
      process.env,
      defaultStateDirectory(process.env),
      (version) => talk.notice(`Trying once where ${seat.title} (${version}) runs its commands …`),
      meant,
    ),
  ]);
  await using _litterbox = litterbox;
  for (const sentence of await litterbox.perform(reconcileState, {}, { signal })) talk.notice(visible(sentence));
  const { sandbox } = await sandboxFor(context, litterbox, seat, flags, root);
  await using _seat = flags.share ? undefined : await sandbox.seat(id, { signal });
  const tools = [process.execPath, ownPath(), 'mcp', '--sandbox', sandbox.name, '--actor', id, '--share'] as const;
  const below = relative(realpathSync(root), realpathSync(directory));
  const [shell, isThere, [before]] = await Promise.all([
    sandbox.shell({ signal }),
    sandbox.files.exists(below || '.', { signal }), // refuses one that is paused or stopped, too
    litterbox.perform(readLog, { sandbox: sandbox.name, limit: 1 }, { signal }),
  ]);
  await using opened = await seat.open({ hands: sandbox, root, shell, tools });
  talk.notice(
    talk.paint(
      'dim',
      `${seat.title} works in ${sandbox.name}: its commands and files are there, not here.`,
      process.stderr,
    ),
  );
  if (!isThere) talk.notice(`${visible(below)} is not in ${sandbox.name}, so ${seat.title} begins at its top.`);
  talk.endProgress();
  const start = {
    cwd: isThere ? process.cwd() : root,
    environment: opened.environment,
    descriptors: meant && seat.runner ? [seat.runner.descriptor] : [],
  };
  process.exitCode = await run(context, program.path, [...opened.args, ...args], start);
  await opened[Symbol.asyncDispose](); // what it left running ends, and is recorded
  await conclude(context, litterbox, sandbox, {
    title: seat.title,
    before,
    // It goes on where the agent's last call was.
    next: (calls) => `litterbox with ${id} ${calls > 0 ? '--continue' : `--sandbox ${sandbox.name}`}`,
  });
};

/** The sandbox that is named, the one that this agent used last, or a new one; `isNew` says whether it was made now. */
export async function sandboxFor(
  { talk, signal }: Context,
  litterbox: Litterbox,
  seat: Pick<Seat, 'id' | 'title'> & {
    /** Says what a new sandbox would lack, before one is made. */
    readonly assertReady?: () => void;
  },
  { sandbox: name, continue: isContinued = false, provider, host, image, from }: Flags,
  root: string,
): Promise<{ readonly sandbox: Sandbox; readonly isNew: boolean }> {
  const made = { provider, host, image, from };
  if (name !== undefined && isContinued)
    throw new LitterboxError('ARG_UNKNOWN', '--sandbox and --continue both say which sandbox.', {
      operation: 'cli.with',
      hint: 'Leave one of them out.',
    });
  const all = await litterbox.list('repository', { signal });
  if (isContinued) {
    const last = all
      .filter(({ lastCall }) => lastCall?.actor === seat.id)
      .sort((one, other) => (other.lastCall?.atMs ?? 0) - (one.lastCall?.atMs ?? 0))[0];
    if (last) return await opened(last.name);
    throw new LitterboxError('SANDBOX_NOT_FOUND', `${seat.title} worked last in no sandbox of this repository.`, {
      operation: 'cli.with',
      hint: 'Start it anew without --continue, or name the sandbox with --sandbox.',
    });
  }
  const names = new Set(all.map((one) => one.name));
  const wanted = name === undefined ? undefined : slugify(name).slug;
  if (wanted !== undefined && names.has(wanted)) return await opened(wanted);
  seat.assertReady?.();
  const create = async (wishes: Wishes) =>
    await litterbox.perform(
      createSandbox,
      { ...made, ...wishes, name: wanted ?? freeNames(`${branchOf(root)}-${seat.id}`, names, 1)[0] },
      // The person started the agent here, where their dependencies are: without them no test runs.
      { signal, onProgress: talk.progress, ask: async () => true },
    );
  const created = await createAsItCan(create, {
    workdir: root,
    workspaceGit: 'throwaway',
  });
  const { record } = created;
  for (const warning of created.warnings) talk.warning(warning);
  const behind = await leftBehind(created, (path) => `include = ["${path}"] in .litterbox.toml`);
  for (const sentence of [...shortcomings(created), ...behind]) talk.notice(sentence);
  const { include = [] } = record.policy;
  if (include.length > 0)
    talk.notice(talk.paint('dim', `With your ${include.map((path) => visibleName(path)).join(', ')}.`, process.stderr));
  return { sandbox: await litterbox.open(record.slug, { signal }), isNew: true };

  async function opened(sandbox: string): Promise<{ readonly sandbox: Sandbox; readonly isNew: boolean }> {
    const [option] = Object.entries(made).find(([, value]) => value !== undefined) ?? [];
    if (option === undefined) return { sandbox: await litterbox.open(sandbox, { signal }), isNew: false };
    throw new LitterboxError('ARG_UNKNOWN', `--${option} is for a new sandbox, and ${sandbox} is there.`, {
      operation: 'cli.with',
      hint: `Leave out --${option}, or choose another name.`,
    });
  }
}

/** A sandbox for an agent has these where it can. */
interface Wishes {
  /** As here: the agent's program names files by their paths here. */
  readonly workdir?: string;
  /** A repository: agents look with git at what they did. */
  readonly workspaceGit: 'throwaway' | 'none';
}

/**
 * A container has places of its own, such as `/tmp`, and no workspace in them: it then lies where it does without a word. An image without
 * git can have no repository.
 */
async function createAsItCan(
  create: (wishes: Wishes) => Promise<CreateSandboxResult>,
  wishes: Wishes,
): Promise<CreateSandboxResult> {
  try {
    return await create(wishes);
  } catch (error) {
    const { workdir, workspaceGit } = wishes;
    if (isLitterboxError(error, 'UNSUPPORTED') && workdir !== undefined)
      return await createAsItCan(create, { workspaceGit });
    if (isLitterboxError(error, 'TOOL_MISSING') && workspaceGit !== 'none')
      return await createAsItCan(create, { ...wishes, workspaceGit: 'none' });
    throw error;
  }
}

/** A sentence for each thing that the agent will miss. */
function shortcomings({
  record: { slug, policy },
  missingDependencies: missing,
}: CreateSandboxResult): readonly string[] {
  if (isBare(policy)) return [BARE_IMAGE];
  return [
    ...(policy.workspaceGit === 'none'
      ? [`There is no git in ${slug}, so it has no repository inside; litterbox log has every change.`]
      : []),
    ...(missing ? [dependencyAdvice({ slug, policy, args: [] }, missing).reason] : []),
  ];
}

/** Names that no sandbox has, as many as are wanted. */
export function freeNames(wanted: string, taken: ReadonlySet<string>, count: number): readonly string[] {
  const { slug } = slugify(wanted);
  const names: string[] = [];
  for (let number = 1; names.length < count; number += 1) {
    const name = number === 1 ? slug : `${slug.slice(0, 36)}-${number}`;
    if (!taken.has(name)) names.push(name);
  }
  return names;
}

export function branchOf(root: string): string {
  try {
    return execFileSync('git', ['symbolic-ref', '--short', '--quiet', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  } catch {
    return 'detached';
  }
}

interface Start {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Those of this program that the agent's gets too: its runner opened them. */
  readonly descriptors: readonly number[];
}

/** The terminal is the agent's; Ctrl-C is for it too. */
async function run(
  { signal, onInterrupt }: Context,
  program: string,
  args: readonly string[],
  { cwd, environment, descriptors }: Start,
): Promise<number> {
  const giveTerminalBack = keepTerminal();
  const stdio = ['inherit', 'inherit', 'inherit', ...descriptors] as const;
  const child = spawn(program, args, { stdio: [...stdio], cwd, env: { ...process.env, ...environment } });
  const leave = () => onInterrupt(leave); // the terminal has sent it to the agent as well
  leave();
  let ending: Promise<void> | undefined;
  const end = () => {
    if (child.pid !== undefined) ending = endTree(child.pid);
  };
  signal.addEventListener('abort', end);
  try {
    const [code, ended] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    await ending; // behind a launcher that ended at once
    if (ended !== null || ending) giveTerminalBack();
    return code ?? 128 + (ended === null ? 0 : constants.signals[ended]);
  } finally {
    signal.removeEventListener('abort', end);
    onInterrupt(undefined);
  }
}
