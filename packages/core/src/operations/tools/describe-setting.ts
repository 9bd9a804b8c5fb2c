import type { Config } from '../../config/config-schema.ts';
import { DEFAULT_LIMITS } from '../../config/policy-of.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import { DecidePolicy } from '../../use-cases/decide/decide-policy.ts';
import { FindSandbox } from '../../use-cases/common/find-sandbox.ts';
import { OpenRepository } from '../../use-cases/common/open-repository.ts';
import type { UseCases } from '../declare/operation.ts';
import { reachable, reachableText } from '../../domain/sandbox/reachable.ts';
import type { ToolSetting } from './tool.ts';
import { stateAndShell } from '../state-and-shell.ts';

/** As when nothing is configured. */
const DEFAULT: ToolSetting = {
  reachable: [],
  timeoutMs: 120_000,
  requireMessage: false,
  playground: '/playground',
  profile: 'standard',
  git: false,
  hasRepository: false,
  limits: DEFAULT_LIMITS,
};

/**
 * What is in force: of the one sandbox that is worked in, else of one that would be made now. A configuration that cannot be
 * used keeps nobody from being told: making a sandbox says what is wrong with it.
 */
export async function describeSetting(
  useCases: UseCases,
  sandbox: string | undefined,
  options?: CallOptions,
): Promise<ToolSetting> {
  try {
    const repository = await useCases.get(OpenRepository).open(options);
    const { config, isTrusted } = await useCases.get(DecidePolicy).read(repository, options);
    const configured: ToolSetting = {
      ...DEFAULT,
      timeoutMs: config.limits.timeoutMs ?? DEFAULT.timeoutMs,
      requireMessage: config.revisions.requireMessage,
      profile: config.mcp.tools,
      // What opens something takes that a person has agreed.
      git: config.mcp.git && isTrusted,
      hasRepository: config.workspace.git === 'throwaway',
      reachable: isTrusted ? reachable(config.network) : [],
      limits: limitsIn(config.limits, isTrusted),
    };
    if (sandbox === undefined) return configured;
    const record = await useCases.get(FindSandbox).find(sandbox, options);
    const { timeoutMs, requireMessage, network, limits, workspaceGit } = record.policy;
    const { shell } = await stateAndShell(useCases, record, options);
    return {
      ...configured,
      timeoutMs,
      requireMessage,
      reachable: reachable(network),
      limits,
      hasRepository: workspaceGit === 'throwaway',
      ...(shell && { shell }),
    };
  } catch {
    options?.signal?.throwIfAborted();
    return DEFAULT;
  }
}

/** Without agreement nothing is above the default. */
function limitsIn({ cpus, memoryBytes }: Config['limits'], isTrusted: boolean): ToolSetting['limits'] {
  const decided = (asked: number | undefined, usual: number) =>
    asked === undefined || (!isTrusted && asked > usual) ? usual : asked;
  return {
    cpus: decided(cpus, DEFAULT_LIMITS.cpus),
    memoryBytes: decided(memoryBytes, DEFAULT_LIMITS.memoryBytes),
  };
}

/** What a model is told once, before it calls anything. */
export function instructionsOf(
  { timeoutMs, playground, requireMessage, git, reachable: rules }: ToolSetting,
  { prefix, sandbox }: { readonly prefix: string; readonly sandbox?: string | undefined },
): string {
  const name = (tool: string) => `${prefix}${tool}`;
  const start =
    sandbox === undefined
      ? `Begin with ${name('sandbox-create')} (one sandbox per task), or continue in one that ${name('sandbox-list')} shows, and pass its name as "sandbox" to every other tool.`
      : `All tools work in the sandbox ${sandbox}.`;
  return [
    'Litterbox gives you a disposable Linux machine with a copy of the repository. Do all work on the code with these tools: nothing you do here reaches the files of the person until they accept it. Tools of your own that read files (such as Read, Grep, Glob) show the files of the person, which may have the same paths, and not those of the sandbox.',
    start,
    `Paths are relative to the workspace. Every change of files is recorded by itself as a revision${requireMessage ? ' and needs a message' : ''}; there is no git to commit with, and none is needed. When a step is done, call ${name('sandbox-milestone')} with a commit message: that is what the person reviews.`,
    `${rules.length === 0 ? 'There is no network: git clone, curl, wget, pip install and the like fail' : `The network reaches nothing but ${reachableText(rules)}, over HTTPS, through the proxy that HTTPS_PROXY names; git clone, curl, wget, pip install and the like fail for everything else`}${git ? ` (the tool ${name('git')} clones public repositories into the playground, when the person allows it)` : ''}. ${playground} is for clones and scratch files; it is kept and never recorded.`,
    `Commands end after ${timeoutMs} ms unless you give a longer timeout. A person applies, merges or deletes; you cannot.`,
  ].join('\n');
}
