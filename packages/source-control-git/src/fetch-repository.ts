import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type FetchedRepository, LitterboxError, type ProgressOptions, shown } from '@litterbox/core/provider';
import { makerOf, temporaryName } from './git/durable-files.ts';
import { removeDead } from './git/remove-dead.ts';
import type { GitRunner } from './git/run-git.ts';
import { UserGit } from './git/user-git.ts';

/** What git says of a redirect that it does not follow. */
const REDIRECTED = /returned error: 30[1-8]/;
/** A clone for looking things up, not a mirror of everything. */
const MAX_BYTES = 2 * 2 ** 30;
const WATCH_MS = 500;
const TIMEOUT_MS = 10 * 60_000;

/** What git may talk, and that it follows no redirect, which a person's yes for an address does not cover, and gives up on a silent host. */
const NETWORK = [
  'protocol.https.allow=always',
  'protocol.http.allow=always',
  'http.followRedirects=false',
  'http.lowSpeedLimit=1',
  'http.lowSpeedTime=30',
  'core.fsync=none', // thrown away in a moment
] as const;

/**
 * Clones a repository of the network into a directory of ours, by a git that has neither credentials nor hooks, and checks its
 * objects. Nothing of it is ever checked out on this machine.
 *
 * @throws LitterboxError `INVALID_ARGUMENT` for a URL that is not plain https or http, `UNAVAILABLE`, `RESOURCE_EXHAUSTED`, `TIMED_OUT`.
 */
export async function fetchRepository(
  git: GitRunner,
  parent: string,
  url: string,
  options?: ProgressOptions,
): Promise<FetchedRepository> {
  const checked = checkedUrl(url);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeDead(parent, makerOf); // a clone that was killed may be large
  const directory = join(parent, temporaryName());
  await mkdir(directory, { mode: 0o700 });
  const remove = async () => await rm(directory, { recursive: true, force: true });
  const gitDirectory = join(directory, 'bare.git');
  const stopped = new AbortController();
  const timer = setTimeout(
    () => stopped.abort(refusal('TIMED_OUT', `${shown(checked)} took longer than ${TIMEOUT_MS / 60_000} minutes.`)),
    TIMEOUT_MS,
  );
  const watch = setInterval(() => {
    void sizeOf(directory).then((bytes) => {
      if (bytes > MAX_BYTES)
        stopped.abort(refusal('RESOURCE_EXHAUSTED', `${shown(checked)} is larger than ${MAX_BYTES} bytes.`));
    });
  }, WATCH_MS);
  try {
    const signal = options?.signal ? AbortSignal.any([options.signal, stopped.signal]) : stopped.signal;
    const { code, stderr } = await new UserGit(git).clone({
      setting: 'sealed',
      settings: NETWORK,
      url: checked,
      directory: gitDirectory,
      cwd: directory,
      environment: { GIT_ALLOW_PROTOCOL: 'https:http' },
      onProgress: options?.onProgress,
      signal,
    });
    if (code !== 0) {
      const why = REDIRECTED.test(stderr) ? 'it leads to another address, which is not followed' : shown(stderr.trim());
      throw refusal('UNAVAILABLE', `${shown(checked)} could not be cloned: ${why}`);
    }
  } catch (error) {
    await remove();
    throw error;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
  }
  return {
    url: checked,
    bundle: (call) =>
      git.stream({
        setting: 'sealed',
        args: ['bundle', 'create', '--quiet', '-', 'HEAD', '--all'],
        cwd: directory,
        gitDirectory,
        signal: call?.signal,
      }),
    [Symbol.asyncDispose]: remove,
  };
}

function refusal(code: 'INVALID_ARGUMENT' | 'UNAVAILABLE' | 'RESOURCE_EXHAUSTED' | 'TIMED_OUT', message: string) {
  const hint = {
    INVALID_ARGUMENT: 'Give an address such as https://example.org/project.git, without a password.',
    UNAVAILABLE:
      'Check whether the address is right, the last one and open to everybody: no password is ever sent, no redirect followed.',
    RESOURCE_EXHAUSTED: 'Clone it yourself and bring in what is needed.',
    TIMED_OUT: 'Try again when the network is faster, or clone it yourself.',
  }[code];
  return new LitterboxError(code, message, { operation: 'repository.fetch', hint });
}

/** Letters, digits, dots and dashes: nothing that a resolver or git would read in another way. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const MAX_URL_CHARACTERS = 2048;

function checkedUrl(text: string): string {
  const refuse = (why: string) => refusal('INVALID_ARGUMENT', `${shown(text)} cannot be cloned: ${why}.`);
  if (text.length > MAX_URL_CHARACTERS || /[\u0000-\u0020\u007f-\uffff\\]/.test(text))
    throw refuse('it is too long or has odd characters');
  if (!URL.canParse(text)) throw refuse('it is not a URL');
  const { protocol, hostname, username, password, search, hash, href } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') throw refuse('only https and http are spoken');
  if (username !== '' || password !== '') throw refuse('it holds a name or password');
  if (search !== '' || hash !== '') throw refuse('it has a query or a fragment');
  if (!HOST.test(hostname)) throw refuse('its host is none');
  return href;
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(directory, { recursive: true }).catch(() => []))
    bytes += await stat(join(directory, name)).then(
      ({ size }) => size,
      () => 0, // git renames its temporary files
    );
  return bytes;
}
