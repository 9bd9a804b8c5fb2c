import { LitterboxError } from '../domain/errors/errors.ts';
import { advice, step } from '../domain/errors/next-step.ts';
import { ConfigSchema } from './config-schema.ts';
import type { ConfigOverrides } from './config-overrides.ts';
import { Refused } from './settings/setting.ts';
import { widens } from './trust-text.ts';

/** How the text of a variable becomes the value that the key would have in the file. */
type Reader = (text: string) => unknown;

const asText: Reader = (text) => text;
const asNumber: Reader = (text) => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text);
const asTruth: Reader = (text) => ({ true: true, false: false, 1: true, 0: false })[text] ?? text;

const VARIABLES: Readonly<Record<string, readonly [section: string, key: string, reader: Reader]>> = {
  LITTERBOX_PROVIDER: ['', 'provider', asText],
  LITTERBOX_MEMORY: ['limits', 'memory', asText],
  LITTERBOX_CPUS: ['limits', 'cpus', asNumber],
  LITTERBOX_PROCESSES: ['limits', 'processes', asNumber],
  LITTERBOX_OPEN_FILES: ['limits', 'open-files', asNumber],
  LITTERBOX_DISK: ['limits', 'disk', asText],
  LITTERBOX_DISK_IO: ['limits', 'disk-io', asText],
  LITTERBOX_TIMEOUT: ['limits', 'timeout', asText],
  LITTERBOX_SETUP_TIMEOUT: ['limits', 'setup-timeout', asText],
  LITTERBOX_PLAYGROUND_SCOPE: ['playground', 'scope', asText],
  LITTERBOX_WORKSPACE_GIT: ['workspace', 'git', asText],
  LITTERBOX_WORKDIR: ['workspace', 'workdir', asText],
  LITTERBOX_REQUIRE_MESSAGE: ['revisions', 'require-message', asTruth],
};

/**
 * Keys that open something. A variable may come from an `.envrc` that the repository brought along, so it cannot say yes
 * in the name of a person; saying nothing would be worse, because whoever set it believes it works.
 */
const NOT_FROM_ENVIRONMENT: readonly RegExp[] = [
  /^LITTERBOX_(?:ALLOW_DEGRADED|BASE_IMAGE|HOSTS?|INCLUDE|INSTALL_COMMAND|ROOTFS|SETUP_COMMAND|SOURCE|LOWER|MOUNTS|ENV|PORTS|GIT|WORKTREES)$/,
  // Tables whose every key opens something, or none of whose keys has a variable.
  /^LITTERBOX_(?:CONTAINER|MCP|NETWORK|OVERLAYFS|RETENTION|SECRETS|SERVICES|SSH)(?:_|$)/,
];

/**
 * What `LITTERBOX_*` variables say. An empty variable says nothing.
 *
 * @throws LitterboxError the code that the key would give in the file; `CONFIG_UNTRUSTED` for what opens something,
 *   and for more of the machine than a sandbox gets anyway: what a person would have to agree to in the file.
 */
export function environmentOverrides(environment: Readonly<Record<string, string | undefined>>): ConfigOverrides {
  const document: Record<string, unknown> = {};
  const given = new Set<string>();
  for (const [name, text] of Object.entries(environment)) {
    if (text === undefined || text === '') continue;
    if (NOT_FROM_ENVIRONMENT.some((pattern) => pattern.test(name))) {
      throw untrusted(name);
    }
    const entry = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined;
    if (!entry) continue; // LITTERBOX_HOME and the like, which are not configuration
    const [section, key, reader] = entry;
    given.add(name);
    if (section === '') document[key] = reader(text);
    else document[section] = { ...(document[section] as object | undefined), [key]: reader(text) };
  }
  const result = ConfigSchema.safeParse(document);
  if (!result.success) throw invalid(result.error.issues[0]);
  const { data: config } = result;
  // Which engine is used is the person's to set for all their repositories, and most do it here.
  const wider = widens(config).find((key) => key !== 'provider');
  if (wider !== undefined) throw untrusted(nameOf((section, key) => wider === (section ? `${section}.${key}` : key)));
  const { timeoutMs, setupTimeoutMs, ...ceilings } = config.limits;
  const limits = Object.fromEntries(Object.entries(ceilings).filter(([, value]) => value !== undefined));
  return {
    ...(config.provider && { provider: config.provider }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(setupTimeoutMs !== undefined && { setupTimeoutMs }),
    ...(config.workspace.workdir && { workdir: config.workspace.workdir }),
    ...(given.has('LITTERBOX_PLAYGROUND_SCOPE') && { playgroundScope: config.playground.scope }),
    ...(given.has('LITTERBOX_WORKSPACE_GIT') && { workspaceGit: config.workspace.git }),
    ...(given.has('LITTERBOX_REQUIRE_MESSAGE') && { requireMessage: config.revisions.requireMessage }),
  };
}

/** The variable of a key. */
function nameOf(isKey: (section: string, key: string) => boolean): string {
  const [name = 'LITTERBOX_*'] = Object.entries(VARIABLES).find(([, [section, key]]) => isKey(section, key)) ?? [];
  return name;
}

function untrusted(name: string): LitterboxError {
  return new LitterboxError(
    'CONFIG_UNTRUSTED',
    `${name} is set, but what it asks for cannot come from the environment.`,
    {
      operation: 'config.environment',
      hint: advice`Unset it; use the command-line option, or write the key into .litterbox.toml and run ${step('config-trust')}.`,
    },
  );
}

function invalid(
  issue: { readonly path: readonly PropertyKey[]; readonly params?: unknown } | undefined,
): LitterboxError {
  const [first, second] = issue?.path ?? [];
  const name = nameOf((section, key) => (section === '' ? key === first : section === first && key === second));
  const refused = (issue?.params as { refused?: unknown } | undefined)?.refused;
  if (refused instanceof Refused) {
    return new LitterboxError(refused.code, `${name}: ${refused.reason}`, {
      operation: 'config.environment',
      hint: advice`Correct or unset ${name}. ${refused.hint}`,
    });
  }
  return new LitterboxError('CONFIG_VALUE', `${name} has a value that cannot be read.`, {
    operation: 'config.environment',
    hint: `Unset ${name}.`,
  });
}
