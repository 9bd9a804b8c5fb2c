import { type ExecChannel } from '../../channel/exec-channel.ts';
import { type OutputListener, whatToRun } from '../../channel/channel-command.ts';
import { type Command, commandText } from '../../domain/processes/command.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, type Hint } from '../../domain/errors/next-step.ts';
import { limitHints } from '../../domain/sandbox/limit-hints.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { commandVariables } from '../../services/command-variables.ts';
import { systemRuleHint } from '../../domain/sandbox/system-rule-hint.ts';
import { networkHint } from './network-hint.ts';
import type { NetworkSession } from '../network/open-network.ts';
import { repositoryHint } from './repository-hint.ts';
import { withheldNetwork } from '../decide/policy-for-base.ts';

const LOG_CHARACTERS = 4_000;

/** A command of ours, by what people know it as. */
export interface NamedCommand {
  readonly argv: readonly [string, ...string[]];
  readonly name: string;
}

/** The first command that failed. */
export interface FailedSetup {
  readonly command: string;
  readonly exitCode: number;
  /** After "The setup command …": why it counts as failed. */
  readonly how: string;
  /** The end of what it printed: hostile. */
  readonly log: string;
  /** Limits of the sandbox that had to do with it, a sentence each. */
  readonly hints: readonly string[];
}

/**
 * Runs commands one after the other, in the workspace, within the time that the policy gives to the whole.
 *
 * @param verb what is done, for progress: `Setting up`
 * @param network the way out that the commands have, if any: who asks it for the same host without an end is ended
 * @returns the one that failed; the others were not run
 */
export async function runSetupCommands(
  commands: readonly (Command | NamedCommand)[],
  record: Pick<SandboxRecord, 'ports' | 'policy' | 'workdir'>,
  channel: ExecChannel,
  verb: string,
  network: Pick<NetworkSession, 'whenHopeless'> | undefined,
  options?: ProgressOptions,
): Promise<FailedSetup | undefined> {
  const { setupTimeoutMs } = record.policy;
  const endsAtMs = performance.now() + setupTimeoutMs;
  for (const given of commands) {
    const isOurs = typeof given === 'object' && 'name' in given;
    const command = isOurs ? given.name : commandText(given);
    options?.onProgress?.({ step: 'setup', message: `${verb}: ${command}` });
    const ending = new AbortController();
    let hopeless: string | undefined;
    using _listener = network?.whenHopeless((host) => {
      hopeless ??= host;
      ending.abort();
    });
    const outcome = await channel.run(
      {
        ...whatToRun(isOurs ? given.argv : given),
        cwd: record.workdir,
        env: commandVariables(record, 'setup'),
        timeoutMs: Math.max(1, Math.round(endsAtMs - performance.now())),
        onOutput: lastLines(`${verb}: ${command}`, options),
      },
      { signal: options?.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal },
    );
    options?.signal?.throwIfAborted();
    const { exit, stdout, stderr, interruption } = outcome;
    if (exit.code === 0 && !interruption) continue;
    const log = (decodeRaw(stdout.bytes) + decodeRaw(stderr.bytes)).slice(-LOG_CHARACTERS);
    const how =
      interruption === 'timeout'
        ? `did not finish within the ${setupTimeoutMs} ms of limits.setup-timeout`
        : hopeless !== undefined && interruption === 'abort'
          ? `was stopped: it kept asking for ${hopeless}, which the network refuses`
          : `failed with exit code ${exit.code}`;
    return {
      command,
      exitCode: exit.code,
      how,
      log,
      hints: limitHints(record.policy.limits, { ...outcome, text: log }),
    };
  }
  return undefined;
}

function systemHint(log: string): string | undefined {
  const hint = systemRuleHint(log, 'person');
  return hint && `${sentence(hint)}.`;
}

const sentence = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

/** Not more often: nobody reads faster. */
const DETAIL_MS = 200;
const DETAIL_CHARACTERS = 200;

/** Tells the last line of what is printed, for a person who waits. */
function lastLines(message: string, { onProgress }: ProgressOptions = {}): OutputListener | undefined {
  if (!onProgress) return undefined;
  let toldMs = Number.NEGATIVE_INFINITY;
  return ({ bytes }) => {
    const nowMs = performance.now();
    if (nowMs - toldMs < DETAIL_MS) return;
    const lines = decodeRaw(bytes.slice(-DETAIL_CHARACTERS)).split(/[\r\n]/);
    const detail = lines.findLast((line) => line.trim() !== '')?.trim();
    if (detail === undefined) return;
    toldMs = nowMs;
    onProgress({ step: 'setup', message, detail });
  };
}

/**
 * @param kind what failed, in a sentence: `setup command`
 * @param hint what to do, besides what the network needs
 * @param way the way out that the commands had, if any: what was refused there
 */
export function setupFailed(
  kind: string,
  failed: FailedSetup,
  { policy }: Pick<SandboxRecord, 'policy'>,
  hint: Hint,
  way: Pick<NetworkSession, 'missing' | 'refused'> | undefined,
): LitterboxError {
  const { command, how, log } = failed;
  // A mark of ours before each line: what a command prints must not pass for words of ours.
  const lines = log
    .trim()
    .split(/\r\n?|\n/)
    .slice(-5)
    .map((line) => `  | ${line}`)
    .join('\n');
  const network = withheldNetwork(policy) ?? networkHint(policy.network, log, way);
  const ofLimits = failed.hints.map((one) => `${sentence(one)}.`);
  const hints = [hint, ...ofLimits, systemHint(log), repositoryHint(policy, log, 'person'), network].filter(
    (one) => one !== undefined,
  );
  return new LitterboxError('SETUP_FAILED', `The ${kind} ${JSON.stringify(command)} ${how}:\n${lines}`, {
    operation: 'sandbox.create',
    hint: hints.reduce((all, one) => advice`${all} ${one}`),
    facts: { command, log },
  });
}
