import { advice, type Hint, step } from '../../domain/errors/next-step.ts';
import { parseNetworkRule } from '../../config/settings/parse-network-rule.ts';
import type { LimitedOutcome } from '../../domain/sandbox/limit-hints.ts';
import type { NetworkPolicy } from '../../domain/sandbox/policy.ts';
import { reachable, reachableText } from '../../domain/sandbox/reachable.ts';
import type { HintReader } from '../../domain/sandbox/system-rule-hint.ts';
import type { RefusedHost, NetworkSession } from '../network/open-network.ts';

/** Messages of programs that find no network. */
const NETWORK_WORDS =
  /could not resolve|temporary failure|name or service not known|getaddrinfo|EAI_AGAIN|ENOTFOUND|network is unreachable|ENETUNREACH|connection refused|ECONNREFUSED|failed to establish a new connection|proxy/i;
/** Messages of programs whose own command failed. */
const COMMAND_WORDS =
  /(?:could not|unable to) resolve host|temporary failure in name resolution|name or service not known|no such host|UnknownHostException|network is unreachable|fatal: unable to access|connect tunnel failed|tunneling socket could not|tunnel connection failed|\(litterbox: |getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|ENETUNREACH|failed to establish a new connection|failed to open tcp connection|no matching distribution found/i;
/** They say so of a server of their own, too. */
const REFUSED_WORDS = /connection refused/i;
const OWN_MACHINE = /\blocalhost\b|\b127\.|\[::1\]/;
/** What nothing prints that found one, such as the first program of a pipe whose last one went well. */
const OFFLINE_WORDS = /^npm (?:ERR!|error) (?:network|code E(?:NOTFOUND|AI_AGAIN))/m;
/** Where names stand in what programs say: in an address, or after the words for a name that was not found. */
const NAMES =
  /(?:https?:\/\/(?:[^\s/@]*@)?|resolve(?: host(?:name)?)?:? ['"]?|ENOTFOUND |EAI_AGAIN |host=['"])([a-z0-9.-]+\.[a-z0-9-]+)(?::(\d{1,5}))?/gi;
/** More lines are nobody's hint. */
const MAX_RULES = 8;

/**
 * The change by which the setup finds what it missed. Nothing when it missed nothing that is known.
 *
 * @param log the end of what the setup printed: hostile
 * @param way what the gate refused, where there is one
 */
export function networkHint(
  { setup, run, allow = [], allowPrivate = [] }: NetworkPolicy,
  log: string,
  way?: Pick<NetworkSession, 'missing' | 'refused'>,
): Hint | undefined {
  const { missing = new Set<string>(), refused = new Map<string, RefusedHost>() } = way ?? {};
  const told = [...refused].filter(([host]) => !missing.has(host)).slice(0, MAX_RULES);
  const ofRefused = told.length === 0 ? undefined : refusedHint(told, allowPrivate);
  if (ofRefused !== undefined && missing.size === 0) return ofRefused;
  if (missing.size === 0 && !NETWORK_WORDS.test(log)) return undefined;
  const named = missing.size > 0 ? [...missing] : rulesIn(log);
  const wanted = named.filter((rule) => !allow.includes(rule)).slice(0, MAX_RULES);
  if (wanted.length === 0)
    return setup === 'none'
      ? 'It may need the network. A setup has one with network.setup = "allow-list", and network.allow with the hosts.'
      : 'The host is allowed, over HTTPS through the proxy that HTTPS_PROXY names. Some programs need a setting of their own to use a proxy.';
  const lines = [
    '[network]',
    'setup = "allow-list"',
    ...(run === 'none' ? [] : [`run = "${run}"`]),
    `allow = ${list([...allow, ...wanted])}`,
  ];
  return advice`${ofRefused === undefined ? '' : advice`${ofRefused}\n`}If it may reach ${wanted.join(', ')}, write into .litterbox.toml, and agree to it with ${step('config-trust')}:\n\n${lines.join('\n')}\n`;
}

/**
 * The thing that a command missed and the network would give. Nothing when it missed nothing that is known.
 *
 * @param text the end of what it printed: hostile
 */
export function commandNetworkHint(
  network: NetworkPolicy,
  { exit, text }: Pick<LimitedOutcome, 'exit' | 'text'>,
  reader: HintReader,
): Hint | undefined {
  const isMissed =
    exit.code === 0
      ? OFFLINE_WORDS.test(text)
      : COMMAND_WORDS.test(text) || (REFUSED_WORDS.test(text) && !OWN_MACHINE.test(text));
  if (!isMissed) return undefined;
  const rules = reachable(network);
  const wanted = rulesIn(text)
    .filter((rule) => !rules.includes(rule))
    .slice(0, MAX_RULES);
  const way = step('sandbox-create', { network: 'run', allow: wanted.length === 0 ? ['HOST'] : wanted });
  if (rules.length === 0)
    return reader === 'agent'
      ? 'this sandbox has no network; only what is on the machine and in the repository can be used'
      : advice`this sandbox has no network. To create one that reaches a host: ${way}`;
  const more =
    reader === 'agent'
      ? 'a person can allow more for new sandboxes, with network.allow in .litterbox.toml'
      : advice`to create one that reaches more: ${way}, or network.allow in .litterbox.toml`;
  return advice`this sandbox reaches nothing but ${reachableText(rules)}, over HTTPS and through the proxy that HTTPS_PROXY names; ${more}`;
}

function refusedHint(told: readonly (readonly [string, RefusedHost])[], allowPrivate: readonly string[]): Hint {
  const reasons = told
    .map(
      ([, { reason, address }]) =>
        `${reason[0]?.toUpperCase()}${reason.slice(1)}${address === undefined ? '' : ` (${address})`}.`,
    )
    .join(' ');
  const own = told.filter(([, { isPrivate }]) => isPrivate).map(([host]) => host);
  const [odd] = told.filter(([, { isPrivate, address }]) => !isPrivate && address !== undefined).map(([host]) => host);
  const look =
    odd === undefined ? '' : ` See what the name leads to on this machine: getent ahosts ${odd.replace(/:\d+$/, '')}.`;
  if (own.length === 0) return `${reasons}${look}`;
  return advice`${reasons}${look} If it may reach ${own.join(', ')} in your own network, write into .litterbox.toml, and agree to it with ${step('config-trust')}:\n\n[network]\nallow-private = ${list([...allowPrivate, ...own])}\n`;
}

function rulesIn(log: string): readonly string[] {
  const found = new Set<string>();
  for (const [, host = '', port] of log.matchAll(NAMES)) {
    const rule = parseNetworkRule(port === undefined || port === '443' ? host : `${host}:${port}`);
    if (rule !== undefined) found.add(rule);
  }
  return [...found];
}

const list = (rules: readonly string[]) => `[${rules.map((rule) => JSON.stringify(rule)).join(', ')}]`;
