import { runScriptOrFail } from '@litterbox/linux-sandbox';
import { type CallOptions, type Host, LitterboxError, type ProviderKey, quoted, shown } from '@litterbox/core/provider';
import type { SessionSources } from './bwrap-arguments.ts';

/** Made anew in every sandbox, so a root file system's own are not used. */
const OWN_ENTRIES = new Set(['proc', 'sys', 'dev', 'run', 'tmp', 'home', 'src', 'playground', 'lost+found']);

/**
 * Directories at the top of a root file system that an ordinary user cannot look into, such as root's home. Through an overlay that the
 * user makes they are not even found (the kernel reads a mark on them as that user), and nothing in them would be of use.
 */
async function closedDirectories(host: Host, root: string, options?: CallOptions): Promise<ReadonlySet<string>> {
  const script = `cd ${quoted(root)} && for n in * .[!.]*; do [ ! -d "$n" ] || [ -r "$n" ] && [ -x "$n" ] || printf '%s\\0' "$n"; done; :`;
  return new Set((await runScriptOrFail(host, 'provider.create', script, options)).split('\0'));
}

/** The entries of a root file system that a sandbox sees. @throws LitterboxError `UNSUPPORTED` for what is none, and for the machine's own. */
export async function rootEntries(
  host: Host,
  provider: ProviderKey,
  root: string,
  workdir: string,
  options?: CallOptions,
): Promise<SessionSources['rootEntries']> {
  const { homeDirectory, uid } = await host.facts(options);
  const isOwn = `d=${quoted(homeDirectory)}
while [ "$d" ]; do [ ${quoted(root)} -ef "$d" ] && { printf own; exit 0; }; d=\${d%/*}; done
[ ${quoted(root)} -ef / ] && printf own
:`;
  if ((await runScriptOrFail(host, 'provider.create', isOwn, options)) === 'own') {
    throw new LitterboxError(
      'UNSUPPORTED',
      `${shown(root)} holds your home directory: a sandbox would see this machine.`,
      {
        operation: 'provider.create',
        provider,
        hint: 'Name a directory made by debootstrap, or unpacked from an image.',
      },
    );
  }
  const all = await host.files.list(root);
  if (!all?.some(({ name }) => name === 'bin')) {
    throw new LitterboxError('UNSUPPORTED', `${shown(root)} is not a root file system: it has no bin directory.`, {
      operation: 'provider.create',
      provider,
      hint: 'Name a directory made by debootstrap, or unpacked from an image.',
    });
  }
  const top = workdir.split('/')[1] ?? '';
  const closed = uid === 0 ? new Set<string>() : await closedDirectories(host, root, options);
  const entries = all.filter(
    ({ name }) => !OWN_ENTRIES.has(name) && name !== top && !name.includes('\n') && !closed.has(name),
  );
  const links = entries.filter(({ type }) => type === 'symlink').map(({ name }) => name);
  const targets =
    links.length === 0
      ? []
      : (
          await runScriptOrFail(
            host,
            'provider.create',
            `cd ${quoted(root)} && for n in ${links.map(quoted).join(' ')}; do readlink -- "$n"; done`,
          )
        ).split('\n');
  return entries
    .filter(({ type }) => type !== 'special')
    .map(({ name, type }) =>
      type === 'symlink'
        ? { name, type: 'link' as const, target: targets[links.indexOf(name)] ?? '' }
        : { name, type: 'bind' as const },
    );
}
