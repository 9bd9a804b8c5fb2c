import {
  type CallOptions,
  type Host,
  type ProgressOptions,
  quoted,
  type WorkspaceSource,
} from '@litterbox/core/provider';
import { type Layout, UNFINISHED } from './layout.ts';
import type { Machine } from './machine.ts';
import { runScriptOrFail, scriptError } from './run-script.ts';
import { SANDBOX_UID } from './supervisor-script.ts';

/**
 * Makes the frozen tree of a base unless it is there: one per content, shared by all sandboxes, never written to again. It
 * belongs to the sandbox's user, so that the copies on top of it do, and is reachable for nobody but through a sandbox.
 */
export async function ensureBaseTree(
  host: Host,
  machine: Machine,
  layout: Layout,
  source: WorkspaceSource,
  options?: ProgressOptions,
): Promise<string> {
  const target = `${layout.bases}/${source.key}`;
  if (await host.files.stat(target, options)) return target;
  options?.onProgress?.({ step: 'base-tree', message: 'Unpacking the base tree' });
  const unfinished = `${layout.bases}/${UNFINISHED}${crypto.randomUUID()}`;
  try {
    await unpack(host, machine, unfinished, source, options);
    // Another process may have been faster: its tree is as good, and a directory that is not empty is not replaced.
    await runScriptOrFail(
      host,
      'provider.base-tree',
      `mv -T ${quoted(unfinished)} ${quoted(target)} 2>/dev/null || { [ -d ${quoted(target)} ] && rm -rf ${quoted(unfinished)}; }`,
      options,
    );
    return target;
  } catch (error) {
    await runScriptOrFail(host, 'provider.base-tree', `rm -rf ${quoted(unfinished)}`).catch(() => '');
    options?.signal?.throwIfAborted();
    throw error;
  }
}

async function unpack(
  host: Host,
  machine: Machine,
  directory: string,
  source: WorkspaceSource,
  options?: CallOptions,
): Promise<void> {
  const owner = machine.isRoot
    ? `chown ${SANDBOX_UID}:${SANDBOX_UID} . && exec setpriv --reuid=${SANDBOX_UID} --regid=${SANDBOX_UID} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all`
    : 'exec';
  // The layers above are 0700 and another user's: tar must not look a path up, so it starts where it is to unpack.
  const script = `umask 022; mkdir ${quoted(directory)} && cd ${quoted(directory)} && ${owner} tar -x -f - --no-same-owner --same-permissions`;
  await using tar = await host.spawn({ argv: ['sh', '-c', script], stdin: 'pipe' }, options);
  let said = '';
  const listening = (async () => {
    for await (const { bytes } of tar) said = (said + new TextDecoder().decode(bytes)).slice(-4096);
  })();
  const reader = source.open(options).getReader();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) await tar.write(chunk.value);
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw error;
  }
  await tar.closeStdin();
  await listening;
  const { code } = await tar.exit;
  if (code !== 0) throw scriptError('provider.base-tree', code, said);
}
