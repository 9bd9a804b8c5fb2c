import {
  type DirectorySync,
  type HostDirectory,
  LitterboxError,
  shown,
  type SyncOptions,
  type SyncReport,
} from '@litterbox/core/provider';
import { joinPair } from './join-pair.ts';
import { senderArguments } from './sender-arguments.ts';
import { SenderTold } from './sender-told.ts';
import { syncError } from './sync-error.ts';

const DEFAULT_MAX_TOLD = 10_000;

/**
 * Directories made equal by the `rsync` of both hosts (3.2.4 or newer). Each side runs by its host's own `spawn`, and this
 * program carries the bytes between them: no SSH of rsync's own, no port, no shell that sees a name.
 */
export function rsync(): DirectorySync {
  return {
    async sync(source, target, options = {}) {
      options.signal?.throwIfAborted();
      checkPaths(source, target, options);
      await checkDirectories(source, target, options);
      return await run(source, target, options);
    },
  };
}

async function run(source: HostDirectory, target: HostDirectory, options: SyncOptions): Promise<SyncReport> {
  const { signal, exclude = [], only, maxTold = DEFAULT_MAX_TOLD } = options;
  const nonce = crypto.randomUUID();
  const told = new SenderTold(nonce, maxTold);
  const argv = senderArguments({ nonce, source: source.path, exclude, only });
  const outcome = await joinPair(source.host, target, argv, (bytes) => told.push(bytes), signal);
  told.end();
  // 24: a file of the source went away while it was read
  if (![0, 24].includes(outcome.code)) throw syncError(outcome.code, `${told.complaints}${outcome.farSaid}`);
  return told.report();
}

function checkPaths(source: HostDirectory, target: HostDirectory, { exclude = [], only }: SyncOptions): void {
  for (const { path } of [source, target])
    if (!path.startsWith('/') || path.includes('\0'))
      throw invalid(`${shown(path)} is not an absolute path.`, 'Give the absolute path of a directory.');
  if (only?.length === 0) throw invalid('Nothing is to be brought.', 'Name a path, or leave `only` out.');
  for (const path of [...exclude, ...(only ?? [])])
    if (path.includes('\0') || path.split('/').some((name) => ['', '.', '..'].includes(name)))
      throw invalid(
        `${shown(path)} is not a path in the directories.`,
        'Give a path relative to the directories, such as dir/file.',
      );
  if (source.host !== target.host) return;
  const [one, other] = [`${normal(source.path)}/`, `${normal(target.path)}/`];
  if (one.startsWith(other) || other.startsWith(one))
    throw invalid(
      `${shown(source.path)} and ${shown(target.path)} are in each other.`,
      'Give two directories that are apart.',
    );
}

function normal(path: string): string {
  const names: string[] = [];
  for (const name of path.split('/'))
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  return `/${names.join('/')}`;
}

function invalid(message: string, hint: string): LitterboxError {
  return new LitterboxError('INVALID_ARGUMENT', message, { operation: 'sync', hint });
}

async function checkDirectories(source: HostDirectory, target: HostDirectory, options: SyncOptions): Promise<void> {
  const of = async ({ host, path }: HostDirectory) => {
    const stat = await host.files.stat(normal(path), { signal: options.signal });
    if (stat && stat.type !== 'directory')
      throw new LitterboxError('NOT_A_DIRECTORY', `${shown(path)} of ${host.name} is a ${stat.type}.`, {
        operation: 'sync',
        hint: 'Give a directory itself, not a link to it.',
      });
    return stat;
  };
  if (!(await of(source)))
    throw new LitterboxError('NOT_FOUND', `There is no directory ${shown(source.path)} on ${source.host.name}.`, {
      operation: 'sync',
      hint: 'Nothing was changed in the target. Give a directory that exists.',
    });
  if (!(await of(target))) await target.host.files.makeDirectory(target.path, { signal: options.signal });
}
