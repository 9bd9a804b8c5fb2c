import { type Host, type ProcessHandle } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';

/** Where the far host has files that this machine has not. */
export const FAR_DIRECTORY = '/mnt';

/**
 * A host in a mount namespace of its own, in which {@link FAR_DIRECTORY} is a file system that is nowhere else: what goes by another
 * way than the Host port does not arrive. Needs root.
 */
export async function farHost(): Promise<Host> {
  const local = localHost();
  const holder: ProcessHandle = await local.spawn({
    argv: [
      'unshare',
      '-m',
      '--propagation',
      'private',
      'sh',
      '-c',
      `mount -t tmpfs far ${FAR_DIRECTORY} && echo $$ && exec cat`,
    ],
    stdin: 'pipe',
  });
  const first = await holder[Symbol.asyncIterator]().next();
  const pid = first.done ? '' : new TextDecoder().decode(first.value.bytes).trim();
  if (!/^\d+$/.test(pid)) throw new Error('There is no far host.');
  const there = (path: string) => `/proc/${pid}/root${path}`;
  const { files } = local;
  return {
    ...local,
    name: 'far',
    spawn: ({ argv, ...spec }, call) =>
      local.spawn({ ...spec, argv: ['nsenter', '-t', pid, '-m', '--', ...argv] }, call),
    files: {
      read: (path, call) => files.read(there(path), call),
      write: (path, bytes, call) => files.write(there(path), bytes, call),
      makeDirectory: (path, call) => files.makeDirectory(there(path), call),
      list: (path, call) => files.list(there(path), call),
      stat: (path, call) => files.stat(there(path), call),
      rename: (source, target, call) => files.rename(there(source), there(target), call),
      remove: (path, call) => files.remove(there(path), call),
    },
    [Symbol.asyncDispose]: () => holder[Symbol.asyncDispose](),
  };
}
