import { type CallOptions } from '@litterbox/core/provider';
import { isObjectOf } from '@litterbox/linux-sandbox';
import { showAddress } from '../address/engine-address.ts';
import { type Engine, PRESENCE_MS } from './engine.ts';
import { type EngineFacts, type EngineSurvey, readEngine } from './engine-facts.ts';
import { ping } from './ping.ts';

/** By the host, then by the engine's address as seen from it. */
const KNOWN = new WeakMap<object, Map<string, Promise<EngineFacts>>>();

export interface KnownEngineOptions extends CallOptions {
  /** The engine has to answer now, also where this process knows it. @defaultValue false */
  readonly isThere?: boolean;
}

/**
 * What is known of an engine. One look per process and address, as long as it succeeds: a look costs Podman most of a second of
 * processor time, in which it asks the machine's package manager for its own programs. Where the survey says so, one that another
 * process took a while ago is good enough; the engine has to be there all the same.
 */
export async function knownEngine(
  engine: Engine,
  survey: EngineSurvey,
  { isThere = false, ...options }: KnownEngineOptions = {},
): Promise<EngineFacts> {
  const address = showAddress(await engine.address(options));
  const known = KNOWN.get(survey.host) ?? new Map<string, Promise<EngineFacts>>();
  KNOWN.set(survey.host, known);
  const before = known.get(address);
  // Who asked first may have given up: that says nothing to others.
  if (before && isThere) await engine.ask('engine.ping', ping, { ...options, limitMs: PRESENCE_MS });
  if (before) return await before.catch(() => readEngine(engine, survey, options));
  const looking = (async () =>
    (await remembered(engine, survey, address, options)) ?? (await looked(engine, survey, address, options)))();
  known.set(address, looking);
  looking.catch(() => {
    if (known.get(address) === looking) known.delete(address);
  });
  return await looking;
}

/** The next look is a look. */
export async function forgetEngine(
  engine: Engine,
  { host, memory }: EngineSurvey,
  options?: CallOptions,
): Promise<void> {
  KNOWN.get(host)?.delete(showAddress(await engine.address(options)));
  if (memory) await host.files.remove(memory.file, options);
}

/** A look as it is written down. */
interface Look {
  readonly version: 3;
  readonly bootId: string;
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly facts: EngineFacts;
}

async function remembered(
  engine: Engine,
  { host, memory }: EngineSurvey,
  address: string,
  options?: CallOptions,
): Promise<EngineFacts | undefined> {
  const bytes = memory && (await host.files.read(memory.file, options));
  if (!bytes) return undefined;
  const look = parsed(bytes);
  const ageMs = Date.now() - (look?.at ?? 0);
  const { bootId } = await host.facts(options);
  if (look?.version !== 3 || look.address !== address || look.bootId !== bootId || ageMs < 0 || ageMs > memory.forMs)
    return undefined;
  await engine.ask('engine.ping', ping, { ...options, limitMs: PRESENCE_MS });
  return look.facts;
}

async function looked(
  engine: Engine,
  survey: EngineSurvey,
  address: string,
  options?: CallOptions,
): Promise<EngineFacts> {
  const { host, memory } = survey;
  const facts = await readEngine(engine, survey, options);
  if (!memory) return facts;
  const { bootId } = await host.facts(options);
  const look: Look = { version: 3, bootId, address, at: Date.now(), facts };
  // Nobody depends on it, and before the first sandbox there is no directory for it.
  await host.files.write(memory.file, new TextEncoder().encode(JSON.stringify(look)), { mode: 0o600 }).catch(() => {});
  return facts;
}

/** The provider's own file; one that was cut off, or written by others, is none. */
function parsed(bytes: Uint8Array): Look | undefined {
  try {
    const look: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObjectOf(look, () => true) && 'facts' in look && isFacts(look.facts) ? (look as Look) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether facts have what everything else stands on. */
function isFacts(value: unknown): value is EngineFacts {
  if (!isObjectOf(value, () => true)) return false;
  const { version, runtime, architecture, identity, rootDirectory, enforced, checks } = value as Readonly<
    Record<string, unknown>
  >;
  return (
    [version, runtime, architecture, identity, rootDirectory].every((text) => typeof text === 'string') &&
    isObjectOf(enforced, (one) => typeof one === 'boolean') &&
    Array.isArray(checks) &&
    checks.every((check) => isObjectOf(check, (text) => typeof text === 'string'))
  );
}
