import { readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  LitterboxError,
  type ProviderFactory,
  type ProviderLoader,
  type SandboxProvider,
  shown,
} from '@litterbox/core/provider';
import { repositoryTop } from '@litterbox/host';
import { PROVIDERS } from './providers.ts';

const VARIABLE = 'LITTERBOX_PROVIDERS';
const KIND = /^[a-z][a-z0-9-]{0,31}$/;
const WRITABLE_FOR_ALL = 0o002;

/**
 * The providers that come along, and after them those by others that the person names: `KIND=PATH` in `LITTERBOX_PROVIDERS`, with `:` in
 * between. A path is the absolute one of a module or of a package. It is loaded when its kind is asked for.
 *
 * @param environment the person's
 * @param repository a path in the repository that is worked on: no code comes from there. Nothing where there is none
 * @throws LitterboxError `CONFIG_VALUE` for what is no kind and path or a kind that is there already, `CONFIG_UNTRUSTED` for a path that is
 *   not absolute, lies in the repository, belongs to neither root nor this user, or can be written by everybody
 */
export function providersFor(
  environment: Readonly<Record<string, string | undefined>>,
  repository?: string,
): readonly [ProviderLoader, ...ProviderLoader[]] {
  const named = (environment[VARIABLE] ?? '').split(':').filter((entry) => entry !== '');
  if (named.length === 0) return PROVIDERS;
  const top = repository === undefined ? undefined : repositoryTop(repository);
  const kinds = new Set(PROVIDERS.map(({ kind }) => kind));
  const others = named.map((entry): ProviderLoader => {
    const [, kind = '', path = ''] = /^([^=]*)=(.*)$/.exec(entry) ?? [];
    if (!KIND.test(kind) || path === '') throw refused('CONFIG_VALUE', entry, 'is not KIND=PATH');
    if (kinds.has(kind)) throw refused('CONFIG_VALUE', entry, `has the kind ${kind}, which is there already`);
    kinds.add(kind);
    const module = moduleAt(entry, path, top);
    return { kind, load: async () => await loadFactory(kind, module) };
  });
  return [...PROVIDERS, ...others];
}

/** The file that is loaded, with no links in its path. */
function moduleAt(entry: string, path: string, top: string | undefined): string {
  const untrusted = (why: string) => refused('CONFIG_UNTRUSTED', entry, why);
  if (!path.startsWith('/')) throw untrusted('is not an absolute path');
  let real: string;
  try {
    real = realpathSync(path);
    if (statSync(real).isDirectory()) real = realpathSync(entryOf(real));
  } catch (cause) {
    throw refused('CONFIG_VALUE', entry, 'is no module and no package', cause);
  }
  const { uid, mode } = statSync(real);
  if (top !== undefined && real.startsWith(`${top}/`)) throw untrusted('lies in the repository');
  if (uid !== 0 && uid !== process.getuid?.()) throw untrusted('belongs to another user');
  if ((mode & WRITABLE_FOR_ALL) !== 0) throw untrusted('can be written by everybody');
  return real;
}

/** The module that a package names for whoever imports it. */
function entryOf(directory: string): string {
  const manifest = join(directory, 'package.json');
  const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name: string };
  return createRequire(manifest).resolve(name);
}

async function loadFactory(kind: string, path: string): Promise<ProviderFactory> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new LitterboxError(
      'UNAVAILABLE',
      `The provider ${kind} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      { operation: 'provider.load', provider: kind, hint: `Build it, and try: node ${path}` },
      { cause },
    );
  }
  const factory = module['provider'] ?? module['default'];
  if (typeof factory === 'function') return checked(kind, path, factory as ProviderFactory);
  throw new LitterboxError('CONFIG_VALUE', `The provider ${kind} exports no function provider, and none by default.`, {
    operation: 'provider.load',
    provider: kind,
    hint: 'Export the factory as provider, as npm create litterbox-provider does.',
  });
}

/** Code of others: what it throws, or gives in place of a provider, is told as that. */
function checked(kind: string, path: string, factory: ProviderFactory): ProviderFactory {
  const broken = (why: string, cause?: unknown) =>
    new LitterboxError(
      'UNAVAILABLE',
      `The provider ${kind} at ${shown(path)} ${why}.`,
      { operation: 'provider.load', provider: kind, hint: 'Its own tests say more: npm test in its package.' },
      cause === undefined ? undefined : { cause },
    );
  return (machine) => {
    let made: SandboxProvider;
    try {
      made = factory(machine);
    } catch (cause) {
      throw broken(`cannot be made: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    }
    const { traits } = (made ?? {}) as Partial<SandboxProvider>;
    const lacks = METHODS.find((name) => typeof (made as Partial<SandboxProvider> | undefined)?.[name] !== 'function');
    if (lacks !== undefined) throw broken(`is no provider: it has no ${String(lacks)}`);
    if (!Array.isArray(traits?.roots)) throw broken('is no provider: it has no traits');
    return made;
  };
}

const METHODS = ['probe', 'create', 'open', 'list', 'remove', Symbol.asyncDispose] as const;

function refused(code: 'CONFIG_VALUE' | 'CONFIG_UNTRUSTED', entry: string, why: string, cause?: unknown) {
  return new LitterboxError(
    code,
    `${VARIABLE} names ${shown(entry)}, which ${why}.`,
    {
      operation: 'provider.load',
      hint: `Write ${VARIABLE}=KIND=/absolute/path/of/the/package, a package of yours or of root, or unset it.`,
    },
    cause === undefined ? undefined : { cause },
  );
}
