import {
  type CallOptions,
  type Host,
  type ProgressOptions,
  quoted,
  reach,
  type WorkspaceSource,
} from '@litterbox/core/provider';
import { type Layout, UNFINISHED } from './layout.ts';
import type { Machine } from './machine.ts';
import { runScriptOrFail, scriptError } from './run-script.ts';
import { SANDBOX_UID } from './supervisor-script.ts';
import { makeUnfinished } from './unfinished.ts';

const MAX_ATTEMPTS = 3;

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
  for (let attempt = 1; ; attempt++) {
    const name = `${UNFINISHED}${crypto.randomUUID()}`;
    const unfinished = `${layout.bases}/${name}`;
    try {
      await unpack(host, machine, layout.bases, name, source, options);
      reach('base-tree.before-name');
      // Another process may have been faster: its tree is as good, and a directory that is not empty is not replaced.
      await runScriptOrFail(
        host,
        'provider.base-tree',
        `mv -T ${quoted(unfinished)} ${quoted(target)} 2>/dev/null || { [ -d ${quoted(target)} ] && rm -rf ${quoted(unfinished)}; }`,
        options,
      );
      return target;
    } catch (error) {
      const isSwept = (await host.files.stat(unfinished)) === undefined;
      await runScriptOrFail(host, 'provider.base-tree', `rm -rf ${quoted(unfinished)}`).catch(() => '');
      options?.signal?.throwIfAborted();
      // Nobody holds its lock between the end of tar and here: a sweep may have taken it for a dead program's.
      if (!isSwept || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function unpack(
  host: Host,
  machine: Machine,
  bases: string,
  name: string,
  source: WorkspaceSource,
  options?: CallOptions,
): Promise<void> {
  const owner = machine.isRoot
    ? `chown ${SANDBOX_UID}:${SANDBOX_UID} . && exec setpriv --reuid=${SANDBOX_UID} --regid=${SANDBOX_UID} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all`
    : 'exec';
  // The layers above are 0700 and another user's: tar must not look a path up, so it starts where it is to unpack.
  const script = `umask 022; ${makeUnfinished(bases, name)} && ${owner} tar -x -f - --no-same-owner --same-permissions`;
  await using tar = await host.spawn({ argv: ['sh', '-c', script], stdin: 'pipe' }, options);
  let said = '';
  const listening = (async () => {
    for await (const { bytes } of tar) said = (said + new TextDecoder().decode(bytes)).slice(-4096);
  })();
  const reader = source.open(options).getReader();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      await tar.write(chunk.value);
      reach('base-tree.half');
    }
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw error;
  }
  await tar.closeStdin();
  await listening;
  const { code } = await tar.exit;
  if (code !== 0) throw scriptError('provider.base-tree', code, said);
}
