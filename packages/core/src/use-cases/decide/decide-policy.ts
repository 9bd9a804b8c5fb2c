import type { ConfigOverrides } from '../../config/config-overrides.ts';
import type { Config } from '../../config/config-schema.ts';
import { NO_WORKDIR } from '../../config/settings/absolute-path.ts';
import { isWorkdir, normalPath } from '../../config/settings/normal-path.ts';
import {
  NETWORK_RULE,
  NETWORK_RULE_HINT,
  parseNetworkRule,
  parsePrivateRule,
  PRIVATE_RULE,
  PRIVATE_RULE_HINT,
} from '../../config/settings/parse-network-rule.ts';
import { variableProblem } from '../../config/settings/variable-problem.ts';
import { type Command, commandText } from '../../domain/processes/command.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { INCLUDED_PATH, includedPath, MAX_INCLUDED } from '../../domain/sandbox/included-path.ts';
import type { Placement } from '../../domain/sandbox/placement.ts';
import type { NetworkPolicy, Policy } from '../../domain/sandbox/policy.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Host } from '../../ports/machine/host.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { BaseSource } from '../../ports/source-control/persons-repository.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { StateStore } from '../../ports/state/state-store.ts';
import { hostsOf } from '../common/hosts-of.ts';

/** Settings of variables and options, in place of the configuration's. */
export type PolicyOverrides = ConfigOverrides;

/** The configuration file's name, at the root of the user's work tree. */
export const CONFIG_FILE = '.litterbox.toml';
/** security.md B04, with room to say how large it is. */
const MAX_CONFIG_BYTES = 2 ** 20;

export interface DecidedPolicy {
  readonly provider: string | undefined;
  /** The variable or key that names the provider. Absent where neither does, and where the caller does. */
  readonly providerFrom?: string;
  /** Machines of the user's to choose from; nothing where the file names none, or a variable names a provider with its own. */
  readonly hosts: readonly string[] | undefined;
  /** The limit of memory, by which machines are compared, and whether somebody asked for it. */
  readonly need: Pick<Placement, 'memoryBytes' | 'isAsked'>;
  readonly source: BaseSource;
  readonly workdir: string | undefined;
  /** Whether the workspace of a new sandbox stands on a frozen tree or on the working tree itself. */
  readonly lower: 'frozen' | 'live';
  readonly warnings: readonly string[];
  policyFor(provider: SandboxProvider): Policy;
}

/** A configuration that was read and checked, and what of it needs a person. */
export interface ReadConfig {
  readonly config: Config;
  readonly warnings: readonly string[];
  /** The settings that a person has to agree to, one `key = value` a line; empty when there are none. */
  readonly trustText: string;
  readonly contentHash: string;
  readonly isTrusted: boolean;
  /** The settings of the last agreement, in the same form; absent when there was none. */
  readonly trustedText?: string;
}

interface Needs {
  readonly host: Host;
  readonly state: StateStore;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Reads the configuration, asks whether it is trusted, and decides what a sandbox may do. */
export class DecidePolicy {
  readonly #needs: Needs;

  /** @param environment where `LITTERBOX_*` single keys are looked up */
  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `CONFIG_*`, `CONFIG_UNTRUSTED`. */
  async decide(
    repository: SourceRepository,
    overrides: PolicyOverrides,
    options?: CallOptions,
  ): Promise<DecidedPolicy> {
    const { config, warnings } = await this.readTrusted(repository, options);
    // Loaded here: the parser of the configuration costs more than many a command that needs none.
    const [{ policyOf, DEFAULT_LIMITS }, { environmentOverrides }] = await Promise.all([
      import('../../config/policy-of.ts'),
      import('../../config/environment-overrides.ts'),
    ]);
    const fromEnvironment = environmentOverrides(this.#needs.environment);
    const merged: PolicyOverrides = {
      ...fromEnvironment,
      ...withoutUndefined(overrides),
      limits: { ...fromEnvironment.limits, ...overrides.limits },
      environment: { ...fromEnvironment.environment, ...overrides.environment },
      ...(overrides.network && { network: networkOf(overrides.network) }),
      ...(overrides.include && { include: includedPaths(overrides.include) }),
    };
    assertValid(merged);
    const memoryBytes = merged.limits?.memoryBytes ?? config.limits.memoryBytes;
    return {
      provider: merged.provider ?? config.provider,
      ...providerFrom(overrides, fromEnvironment, config),
      hosts: hostsOf(config, merged.provider),
      need: { memoryBytes: memoryBytes ?? DEFAULT_LIMITS.memoryBytes, isAsked: memoryBytes !== undefined },
      source: { type: merged.source ?? config.source },
      workdir: merged.workdir ?? config.workspace.workdir,
      lower: merged.lower ?? config.overlayfs.lower,
      warnings,
      policyFor: (provider) =>
        policyOf(config, merged, {
          repositoryRoot: repository.root,
          providerName: provider.name,
          traits: provider.traits,
          canInstall: provider.images !== undefined,
        }),
    };
  }

  /** The configuration, which a person has agreed to. @throws LitterboxError `CONFIG_*`, `CONFIG_UNTRUSTED`. */
  async readTrusted(repository: SourceRepository, options?: CallOptions): Promise<ReadConfig> {
    const read = await this.read(repository, options);
    if (!read.isTrusted) throw await this.#describeUntrusted(repository, read.trustText);
    return read;
  }

  /** The configuration as it stands, trusted or not. */
  async read(repository: SourceRepository, options?: CallOptions): Promise<ReadConfig> {
    const [{ parseConfig }, trust, { contentHash }] = await Promise.all([
      import('../../config/parse-config.ts'),
      import('../../config/trust-text.ts'),
      import('../../config/content-hash.ts'),
    ]);
    const { config, warnings } = parseConfig(await this.#content(repository.root, options), CONFIG_FILE);
    const trustText = trust.trustText(config);
    const hash = await contentHash(trustText);
    const isTrusted = trustText === '' || (await this.#needs.state.isTrusted(repository.id, hash, options));
    const trustedText = trustText === '' ? undefined : await this.#needs.state.trustedText(repository.id, options);
    return {
      config,
      warnings: warnings.map(({ message }) => message),
      trustText,
      contentHash: hash,
      isTrusted,
      ...(trustedText !== undefined && { trustedText }),
    };
  }

  async #content(root: string, options?: CallOptions): Promise<Uint8Array> {
    const path = `${root}/${CONFIG_FILE}`;
    const stat = await this.#needs.host.files.stat(path, options);
    if (!stat) return new Uint8Array();
    // A link could lead to any file of the machine, whose lines would then stand in an error message.
    if (stat.type !== 'file') {
      throw new LitterboxError('CONFIG_UNREADABLE', `${CONFIG_FILE} is not a regular file.`, {
        operation: 'config.read',
        hint: 'Replace it with the file itself.',
      });
    }
    // The owner of the directory can put any file there; somebody who owns only the file was let in.
    const isOfOwner = stat.uid === 0 || stat.uid === (await this.#needs.host.files.stat(root, options))?.uid;
    if (!isOfOwner && stat.uid !== (await this.#needs.host.facts(options)).uid) {
      throw new LitterboxError('CONFIG_UNREADABLE', `${CONFIG_FILE} belongs to user ${stat.uid}.`, {
        operation: 'config.read',
        hint: 'Read it, then make it yours: sudo chown "$(id -u)" .litterbox.toml.',
      });
    }
    if (stat.sizeBytes > MAX_CONFIG_BYTES) {
      throw new LitterboxError(
        'CONFIG_TOO_LARGE',
        `${CONFIG_FILE} is ${stat.sizeBytes} bytes long; at most 256 KiB are allowed.`,
        { operation: 'config.read', hint: 'Remove everything that is not configuration.' },
      );
    }
    return (await this.#needs.host.files.read(path, options)) ?? new Uint8Array();
  }

  async #describeUntrusted(repository: SourceRepository, text: string): Promise<LitterboxError> {
    const before = (await this.#needs.state.trustedText(repository.id)) ?? '';
    const known = new Set(before.split('\n'));
    const added = text.split('\n').filter((line) => line !== '' && !known.has(line));
    const { trustSummary } = await import('../../config/trust-summary.ts');
    const { lines } = trustSummary(added);
    return new LitterboxError(
      'CONFIG_UNTRUSTED',
      `${CONFIG_FILE} asks for more than a sandbox gets by default, and nobody has agreed to it${before === '' ? '' : ' since it changed'}. ${lines.join('\n  ')}`,
      {
        operation: 'config.read',
        hint: advice`Read it, then agree to it: ${step('config-trust')}.`,
        facts: { wants: added },
      },
    );
  }
}

function providerFrom(
  { provider: given }: PolicyOverrides,
  { provider: ofVariable }: PolicyOverrides,
  { provider: ofFile }: Config,
): Pick<DecidedPolicy, 'providerFrom'> {
  if (given !== undefined || (ofVariable ?? ofFile) === undefined) return {};
  return { providerFrom: ofVariable === undefined ? `${CONFIG_FILE}: provider` : 'LITTERBOX_PROVIDER' };
}

/** Options of a library and flags of a command line do not pass the parser of the file; what it would refuse is refused here. */
function assertValid({ workdir, environment = {}, root, setup = [] }: PolicyOverrides): void {
  if (root?.type === 'directory' && normalPath(root.path) === undefined) {
    throw new LitterboxError('INVALID_ARGUMENT', `The root file system ${shown(root.path)} is not an absolute path.`, {
      operation: 'sandbox.create',
      hint: 'Give the whole path of a directory that holds a root file system.',
    });
  }
  for (const command of setup) assertSetupCommand(command);
  if (workdir !== undefined && (normalPath(workdir) !== workdir || !isWorkdir(workdir))) {
    throw new LitterboxError('INVALID_ARGUMENT', `The workdir ${shown(workdir)} cannot be used.`, {
      operation: 'sandbox.create',
      hint: `Give an absolute path without dots, such as /src, ${NO_WORKDIR}.`,
    });
  }
  for (const [name, value] of Object.entries(environment)) {
    const problem = variableProblem(name, value);
    if (problem)
      throw new LitterboxError(problem.code, `The variable ${shown(name)}: ${problem.reason}.`, {
        operation: 'sandbox.create',
        hint: 'Choose another name or value.',
      });
  }
}

/** Paths in their one form, as those of a file are. @throws LitterboxError `INVALID_ARGUMENT` */
function includedPaths(paths: readonly string[]): readonly string[] {
  const refuse = (what: string) =>
    new LitterboxError('INVALID_ARGUMENT', what, {
      operation: 'sandbox.create',
      hint: 'Name directories as git status does: --include node_modules.',
    });
  if (paths.length > MAX_INCLUDED)
    throw refuse(`${paths.length} paths are too many; at most ${MAX_INCLUDED} can be included.`);
  return paths.map((text) => {
    const path = includedPath(text);
    if (path === undefined) throw refuse(`${shown(text)} cannot be included; want ${INCLUDED_PATH}.`);
    return path;
  });
}

/** Rules in their normal form, as those of a file are. */
function networkOf({ allow, allowPrivate, deny, ...modes }: Partial<NetworkPolicy>): Partial<NetworkPolicy> {
  const normal = (
    rules: readonly string[],
    parse = parseNetworkRule,
    wanted = NETWORK_RULE,
    hint = NETWORK_RULE_HINT,
  ) =>
    rules.map((rule) => {
      const parsed = parse(rule);
      if (parsed !== undefined) return parsed;
      throw new LitterboxError('NET_RULE_INVALID', `${shown(rule)} is not a rule; want ${wanted}.`, {
        operation: 'sandbox.create',
        hint,
      });
    });
  return {
    ...withoutUndefined(modes),
    ...(allow && { allow: normal(allow) }),
    ...(allowPrivate && { allowPrivate: normal(allowPrivate, parsePrivateRule, PRIVATE_RULE, PRIVATE_RULE_HINT) }),
    ...(deny && { deny: normal(deny) }),
  };
}

function assertSetupCommand(command: Command): void {
  const refuse = (code: 'COMMAND_EMPTY' | 'COMMAND_NUL', what: string, hint: string) =>
    new LitterboxError(code, `The setup command ${what}.`, { operation: 'sandbox.create', hint });
  const [program, flag, text] = typeof command === 'string' ? [command] : command;
  if (program.trim() === '' || (program === 'sh' && flag === '-c' && text?.trim() === ''))
    throw refuse('COMMAND_EMPTY', 'is empty', 'Leave it out, or give an empty list for none at all.');
  if (commandText(command).includes('\0')) throw refuse('COMMAND_NUL', 'holds a NUL character', 'Remove it.');
}

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}
