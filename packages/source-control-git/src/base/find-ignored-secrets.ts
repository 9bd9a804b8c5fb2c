import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { secretByName } from '@litterbox/core/provider';
import { bytesOf, type ByteString, fromByteString } from '../git/byte-text.ts';
import { secretTextsIn } from './find-secret-files.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** Files that are read at the same time. */
const AT_ONCE = 32;
/** What package managers and builds fill: certificates and keys in there are of tests of others, and a program would miss them. */
const DEPENDENCIES =
  /(?:^|\/)(?:node_modules|bower_components|site-packages|dist-packages|\.venv|venv|\.tox|\.nox|vendor|target|\.gradle|\.m2|Pods|_build|deps|\.yarn|\.pnpm-store)\//;

/** Files of the work tree that git ignores and in which secrets stand, and those that links with names of secrets lead to. */
export async function findIgnoredSecrets(
  user: UserRepository,
  call: { readonly signal?: AbortSignal | undefined },
): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard'];
  const listed = await user.plumbing.output(args, { setting: 'user', ...call });
  const ignored = new Set<ByteString>(listed.toString('latin1').split('\0').slice(0, -1));
  const looked = [...ignored].filter((name) => !DEPENDENCIES.test(name));
  const found = new Set<ByteString>();
  for (let start = 0; start < looked.length; start += AT_ONCE) {
    call.signal?.throwIfAborted();
    await Promise.all(
      looked.slice(start, start + AT_ONCE).map(async (name) => {
        // The provider hides what has such a name, whenever it comes.
        const target = secretByName(fromByteString(name)) === undefined ? undefined : await ledTo(user.root, name);
        if (target !== undefined && target !== name && ignored.has(target)) found.add(target);
        const isSecret = await secretTextsIn(user.root, name).catch(() => []);
        if (isSecret.length > 0) found.add(name);
      }),
    );
  }
  return [...found].map(fromByteString).sort();
}

/** Where a link of the work tree leads in it. */
async function ledTo(root: string, name: ByteString): Promise<ByteString | undefined> {
  const path = Buffer.concat([Buffer.from(join(root, '/')), bytesOf(name)]);
  const real = (await realpath(path, { encoding: 'buffer' }).catch(() => undefined))?.toString('latin1');
  const top = `${(await realpath(root, { encoding: 'buffer' })).toString('latin1')}/`;
  return real?.startsWith(top) ? real.slice(top.length) : undefined;
}
