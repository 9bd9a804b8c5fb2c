import {
  type Assurance,
  CONTROLS,
  type Control,
  type NetworkNamespace,
  shown,
  visibleName,
} from '@litterbox/core/provider';

/** What is known of a running session, for those that come after who started it. */
export interface KeptFacts {
  readonly assurance: Assurance;
  readonly network: NetworkNamespace;
  /** Whether the session has a change scanner of its own, which answers requests and starts no programs. @defaultValue false */
  readonly hasScanner?: boolean;
  /** Whether its first process is told of each process by a plan, and not by shell text. @defaultValue false */
  readonly takesPlans?: boolean;
}

/** More than the facts of any session of ours take: most of them are paths that can be read inside. */
export const MAX_KEPT_FACTS_CHARACTERS = 2 ** 20;
/** No sentence of ours is longer. */
const MAX_SENTENCE_CHARACTERS = 1000;
const STATUSES: readonly string[] = ['enforced', 'weak', 'absent'] satisfies Control['status'][];
const NETWORK = /^\/proc\/\d{1,10}\/ns\/net$/;
const USERS = /^\/proc\/\d{1,10}\/ns\/user$/;

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads the facts of a session that its machine keeps. The machine may be another one, and may have written anything: what is read has the shape of
 * facts, and sentences have no character in them that nobody sees.
 *
 * @param provider who asks: the machine does not say what it is called here
 * @throws Error that says what is wrong, for any other text
 */
export function parseKeptFacts(text: string, provider: string): KeptFacts {
  if (text.length > MAX_KEPT_FACTS_CHARACTERS) throw new Error('it is too long');
  const { assurance, network, hasScanner, takesPlans } = membersOf('it', JSON.parse(text));
  return {
    assurance: assuranceOf(membersOf('assurance', assurance), provider),
    network: networkOf(network),
    ...(hasScanner === true && { hasScanner }),
    ...(takesPlans === true && { takesPlans }),
  };
}

function assuranceOf({ mechanism, controls, readable, masked, unreachable }: Members, provider: string): Assurance {
  return {
    provider,
    mechanism: sentence('mechanism', mechanism),
    controls: listOf('controls', controls).map(controlOf),
    readable: listOf('readable', readable).map((one) => {
      const { path, reason } = membersOf('readable', one);
      return { path: textOf('readable', path), reason: sentence('readable', reason) };
    }),
    ...(masked !== undefined && { masked: listOf('masked', masked).map((path) => textOf('masked', path)) }),
    ...(unreachable !== undefined && {
      unreachable: listOf('unreachable', unreachable).map((one) => {
        const { path, target } = membersOf('unreachable', one);
        return { path: textOf('unreachable', path), target: textOf('unreachable', target) };
      }),
    }),
  };
}

function controlOf(value: unknown): Control {
  const { name, status, finding, remedy } = membersOf('controls', value);
  if (!(CONTROLS as readonly unknown[]).includes(name)) throw new Error(`there is no control ${shown(name)}`);
  if (typeof status !== 'string' || !STATUSES.includes(status)) throw new Error(`a control cannot be ${shown(status)}`);
  return {
    name: name as Control['name'],
    status: status as Control['status'],
    finding: sentence('controls', finding),
    ...(remedy !== undefined && { remedy: sentence('controls', remedy) }),
  };
}

function networkOf(value: unknown): NetworkNamespace {
  const { path, identity, userNamespace } = membersOf('network', value);
  if (typeof path !== 'string' || !NETWORK.test(path)) throw new Error(`${shown(path)} is no network`);
  if (userNamespace === undefined) return { path, identity: textOf('network', identity) };
  if (typeof userNamespace !== 'string' || !USERS.test(userNamespace))
    throw new Error(`${shown(userNamespace)} is no user namespace`);
  return { path, identity: textOf('network', identity), userNamespace };
}

function membersOf(place: string, value: unknown): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new Error(`${place} is no object`);
}

function listOf(place: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`${place} is no list`);
}

function textOf(place: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Error(`${place} has ${shown(value)} where a text is wanted`);
}

const sentence = (place: string, value: unknown) => visibleName(textOf(place, value), MAX_SENTENCE_CHARACTERS);
