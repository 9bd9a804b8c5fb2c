import { reachable, reachableText } from '../domain/sandbox/reachable.ts';
import { decodeRaw } from '../domain/text/raw-text.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { SandboxRecord } from '../ports/state/state-store.ts';
import { FindSandbox } from '../use-cases/common/find-sandbox.ts';
import { InspectSandbox } from '../use-cases/work/inspect-sandbox.ts';
import type { UseCases } from './declare/operation.ts';
import { stateAndShell } from './state-and-shell.ts';
import { portUrl } from './work/list-ports.ts';

/** Programs that change how a model works. An absent one is not named. */
const PROGRAMS = [
  'git',
  'rg',
  'node',
  'npm',
  'pnpm',
  'bun',
  'deno',
  'python3',
  'pip',
  'uv',
  'go',
  'cargo',
  'java',
  'ruby',
  'php',
  'gcc',
  'make',
  'perl',
  'jq',
  'curl',
] as const;
const FIND_PROGRAMS = 'for lb_p do command -v "$lb_p" >/dev/null && echo "$lb_p"; done; :';
const GIB = 2 ** 30;

/** Describes a sandbox to a model that works in it, for its instructions: at most about 300 tokens. */
export async function describeSandbox(useCases: UseCases, name: string, options?: CallOptions): Promise<string> {
  const record = await useCases.get(FindSandbox).find(name, options);
  const { state, shell } = await stateAndShell(useCases, record, options);
  const { policy, workdir } = record;
  const rules = reachable(policy.network);
  return [
    `You work in ${record.slug}, a disposable Linux sandbox with a copy of the project in ${workdir}. Relative paths start there. Nothing that you do reaches the person's files until they accept it.`,
    shell ? `${shell} runs commands as an ordinary user without root.` : `It is ${state}: no command can run now.`,
    ...(shell ? [programsText(await programsIn(useCases, name, options))] : []),
    rules.length === 0
      ? 'There is no network: downloads and installs fail.'
      : `The network reaches ${reachableText(rules)} alone, over HTTPS, through the proxy in HTTPS_PROXY.`,
    `Limits: ${limitsText(policy)}.`,
    `Changes below ${workdir} are recorded by themselves${policy.requireMessage ? ' and need a message' : ''}; ${policy.workspaceGit === 'throwaway' ? 'the git repository there is a copy of one commit' : 'there is no git repository to commit to'}. /playground is for scratch files and is not recorded.`,
    ...(record.ports ?? []).map((port) => `Port ${port.inside} (${port.name}) is reached at ${portUrl(port)} outside.`),
  ].join('\n');
}

async function programsIn(useCases: UseCases, sandbox: string, options?: CallOptions): Promise<readonly string[]> {
  const { stdout } = await useCases.get(InspectSandbox).inspect(
    {
      sandbox,
      operation: 'sandbox-describe',
      input: {},
      look: async ({ channel }) =>
        await channel.run({ script: FIND_PROGRAMS, argv: PROGRAMS, maxOutputBytes: 4096 }, options),
    },
    options,
  );
  // An agent can put a program of any name there, and no other words into this text.
  const found = new Set(decodeRaw(stdout.bytes).split('\n'));
  return PROGRAMS.filter((program) => found.has(program));
}

const programsText = (programs: readonly string[]): string =>
  programs.length === 0
    ? 'It has the usual small programs alone.'
    : `Of larger programs it has ${programs.join(', ')}.`;

function limitsText({
  limits: { memoryBytes, cpus, processes, diskBytes },
  timeoutMs,
}: SandboxRecord['policy']): string {
  const bytes = (count: number) => `${Math.round((count / GIB) * 10) / 10} GiB`;
  return [
    `a command ends after ${Math.round(timeoutMs / 1000)} s unless it gets more time`,
    ...(memoryBytes === undefined ? [] : [`${bytes(memoryBytes)} of memory`]),
    ...(cpus === undefined ? [] : [`${cpus} processors`]),
    ...(processes === undefined ? [] : [`${processes} processes`]),
    ...(diskBytes === undefined ? [] : [`${bytes(diskBytes)} of disk`]),
  ].join(', ');
}
