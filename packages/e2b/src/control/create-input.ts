import { type CreateInput, LitterboxError } from 'litterbox';
import { OWN, type Traits } from '../traits.ts';
import type { NewSandbox } from './control-input.ts';

/** Relative paths of the protocol begin in the home of its user; here that is the workspace, so that all work there is recorded. */
export const WORKSPACE = '/home/user';
/** As the protocol has it where nobody says one. */
const DEFAULT_TIMEOUT_SECONDS = 300;
const EVERYTHING = '0.0.0.0/0';
/** Keys of `network` that are honoured. */
const NETWORK_KEYS: ReadonlySet<string> = new Set(['allowOut', 'denyOut', 'allowPublicTraffic']);

/** A create of the protocol as one of Litterbox. @throws LitterboxError for what cannot be honoured, by name */
export function createInput(
  input: NewSandbox,
): Pick<CreateInput, 'from' | 'workdir' | 'environment' | 'network' | 'allow'> & { traits: Traits } {
  const { templateID: template, metadata, envVars, timeout = DEFAULT_TIMEOUT_SECONDS } = input;
  const isSnapshot = template.startsWith('snapshot:');
  if (template !== 'base' && !isSnapshot)
    throw new LitterboxError('NOT_FOUND', `There is no template ${JSON.stringify(template)}.`, {
      operation: 'e2b.create',
      hint: 'There are base, the repository as the server was started in it, and the ids of snapshots.',
    });
  for (const key of ['mcp', 'iam'] as const)
    if (input[key] !== undefined && input[key] !== null) throw unsupported(key, 'Leave it out.');
  if (input.volumeMounts && input.volumeMounts.length > 0) throw unsupported('volumeMounts', 'Leave it out.');
  if (Object.keys(metadata ?? {}).some((name) => name.startsWith(OWN)))
    throw new LitterboxError('INVALID_ARGUMENT', `metadata: names that begin with ${OWN} are taken.`, {
      operation: 'e2b.create',
    });
  const atEnd = input.autoPause === true ? (input.autoPauseMemory === false ? 'stop' : 'pause') : 'kill';
  return {
    ...(isSnapshot ? { from: template } : { workdir: WORKSPACE }),
    ...(envVars && { environment: envVars }),
    ...networkOf(input),
    traits: {
      template,
      timeoutSeconds: timeout,
      atEnd,
      autoResume: input.autoResume?.enabled === true,
      metadata: metadata ?? {},
    },
  };
}

/** Hosts by their names; nothing else gets out in any case. */
function networkOf({ allow_internet_access: isOpen, network }: NewSandbox): Pick<CreateInput, 'network' | 'allow'> {
  const unknown = Object.keys(network ?? {}).find((key) => !NETWORK_KEYS.has(key));
  if (unknown !== undefined) throw unsupported(`network.${unknown}`, 'Leave it out.');
  const denied = network?.denyOut?.find((one) => one !== EVERYTHING);
  if (denied !== undefined) throw unsupported('network.denyOut', 'Everything is denied that allowOut does not name.');
  const allow = network?.allowOut ?? [];
  if (isOpen === false) return { network: 'none' };
  if (isOpen === true || allow.includes(EVERYTHING))
    throw unsupported('allowInternetAccess', 'Name the hosts that the sandbox may reach, in network.allowOut.');
  return allow.length === 0 ? {} : { network: 'both', allow };
}

const unsupported = (what: string, hint: string) =>
  new LitterboxError('UNSUPPORTED', `${what} cannot be honoured here.`, { operation: 'e2b.create', hint });
