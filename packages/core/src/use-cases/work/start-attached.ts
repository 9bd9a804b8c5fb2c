import { ChannelProcess, type CommandHits } from '../../channel/channel-process.ts';
import { whatToRun } from '../../channel/channel-command.ts';
import { hitLimits } from '../../channel/command-outcome.ts';
import { shellArguments } from '../../channel/command-shell.ts';
import type { ExecChannel } from '../../channel/exec-channel.ts';
import { HeardProcess } from '../../channel/heard-process.ts';
import { CALL_VARIABLE } from '../../channel/kill-tree.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import { spawnWithSecrets } from '../../channel/spawn-with-secrets.ts';
import type { LimitCounts } from '../../channel/worker.ts';
import type { Command } from '../../domain/processes/command.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { TerminalSize } from '../../ports/common/process.ts';
import { MAX_PRINTED_BYTES } from '../record/keep-printed.ts';

/** A program that a person works with, and the way it is started. */
export interface HowToStart {
  readonly command: Command;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly isMerged: boolean;
  readonly terminal: TerminalSize | undefined;
  /** By which its processes are known. */
  readonly mark: string;
}

/** The same program once it runs. */
export interface StartedProcess {
  readonly process: HeardProcess;
  /** Limits of the sandbox that had to do with it, once it has ended. */
  hits(): Promise<CommandHits>;
}

/** As a command does: it reads end of file at once. */
export async function byChannel(
  { channel, secrets }: OpenedSandbox,
  { command, cwd, env: given, isMerged }: HowToStart,
  options?: CallOptions,
): Promise<StartedProcess> {
  const env = { ...secrets.variables, ...given };
  const started = await ChannelProcess.start(channel, { ...whatToRun(command), cwd, env, isMerged }, options);
  return {
    process: new HeardProcess(started, MAX_PRINTED_BYTES),
    hits: async () => await started.hits.catch(() => ({})),
  };
}

/** With an input of its own, or a terminal. */
export async function byRuntime(
  opened: OpenedSandbox,
  { command, cwd, env, isMerged, terminal, mark }: HowToStart,
  options?: CallOptions,
): Promise<StartedProcess> {
  const { channel, guard, runtime } = opened;
  const before = await counted(channel);
  const argv = typeof command === 'string' ? shellArguments(command) : command;
  const started = await spawnWithSecrets(
    opened,
    {
      argv: isMerged ? ['sh', '-c', 'exec "$@" 2>&1', 'sh', ...argv] : argv,
      env: { ...runtime.environment, [CALL_VARIABLE]: mark, ...env },
      stdin: 'pipe',
      cwd,
      ...(terminal && { terminal }),
    },
    options,
  );
  const unwatch = guard.watch('none', mark);
  void started.exit.then(unwatch, unwatch);
  return {
    process: new HeardProcess(started, MAX_PRINTED_BYTES),
    async hits() {
      const after = before && (await counted(channel));
      return before && after ? hitLimits(before, after) : {};
    },
  };
}

/** The process itself does not depend on it: where it cannot be looked up, it is left out. */
async function counted(channel: ExecChannel): Promise<LimitCounts | undefined> {
  return await channel.limitCounts().catch(() => undefined);
}
