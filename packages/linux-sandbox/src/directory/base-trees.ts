import {
  quoted,
  failpoint,
  type CallOptions,
  type ProgressOptions,
  type Host,
  type WorkspaceSource,
} from '@litterbox/core/provider';
import { runScriptOrFail } from '../script/run-script.ts';
import { scriptError } from '../script/script-error.ts';
import { baseTreeName, type TreeKind } from './tree-kind.ts';
import { ensureDirectories, makeUnfinished, removeTree, UNFINISHED } from './unfinished.ts';

/** Where frozen base trees are kept, and what unpacks them. */
export interface BaseTreesInput {
  readonly host: Host;
  /** Directory that holds the frozen trees, one per content: `<bases>/<key>`. */
  readonly bases: string;
  /** Who owns what is unpacked; only root can give it to somebody else. @defaultValue who runs programs on the host */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Root's programs there are confined already: they may unpack themselves, where rights cannot be given up. @defaultValue false */
  readonly isConfined?: boolean;
  /**
   * Puts more into a tree that is unpacked, before it gets its name, with a lock on the directory as `makeUnfinished` takes one. What is
   * unpacked is then in an ordinary directory, whatever the kind: who fills it puts a tree of the kind in its place.
   *
   * @param unfinished absolute path of the directory
   */
  fill?(unfinished: string, options?: CallOptions): Promise<void>;
  /** What kind of directory a tree is. @defaultValue an ordinary one */
  readonly kind?: TreeKind;
}

const MAX_ATTEMPTS = 3;

/**
 * Makes the frozen tree of a base unless it is there: one per content, shared by all sandboxes, never written to again. It
 * belongs to the sandbox's user, so that the copies on top of it do, and is reachable for nobody but through a sandbox.
 */
export async function ensureBaseTree(
  input: BaseTreesInput,
  source: WorkspaceSource,
  options?: ProgressOptions,
): Promise<string> {
  const { host, bases, kind } = input;
  const target = `${bases}/${baseTreeName(source.key, kind)}`;
  const removal = removeTree(kind ? [kind] : []);
  if (await host.files.stat(target, options)) return target;
  options?.onProgress?.({ step: 'base-tree', message: 'Unpacking the base tree' });
  for (let attempt = 1; ; attempt++) {
    const name = `${UNFINISHED}${crypto.randomUUID()}`;
    const unfinished = `${bases}/${name}`;
    try {
      await unpack(input, name, source, options);
      await input.fill?.(unfinished, options);
      failpoint('base-tree.before-name');
      // Another process may have been faster: its tree is as good, and a directory that is not empty is not replaced.
      await runScriptOrFail(
        host,
        'provider.base-tree',
        `${removal}${kind ? `( cd ${quoted(unfinished)} && ${kind.freeze} ) || exit 1\n` : ''}mv -T ${quoted(unfinished)} ${quoted(target)} 2>/dev/null || { [ -d ${quoted(target)} ] && remove_tree ${quoted(unfinished)}; }`,
        options,
      );
      return target;
    } catch (error) {
      const isSwept = (await host.files.stat(unfinished)) === undefined;
      await runScriptOrFail(host, 'provider.base-tree', `${removal}remove_tree ${quoted(unfinished)}`).catch(() => '');
      options?.signal?.throwIfAborted();
      // Nobody holds its lock between the end of tar and here: a sweep may have taken it for a dead program's.
      if (!isSwept || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function unpack(
  { host, bases, owner, kind: wanted, isConfined = false, fill }: BaseTreesInput,
  name: string,
  source: WorkspaceSource,
  options?: CallOptions,
): Promise<void> {
  const kind = fill ? undefined : wanted;
  const tar = 'tar -x -f - --no-same-owner --same-permissions';
  const asOwner = (numbers: string) => {
    const unprivileged = `setpriv --reuid=${owner?.uid} --regid=${owner?.gid} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all`;
    const confined = `${unprivileged} true 2>/dev/null || { ${tar} && exec chown -R -h ${numbers} .; exit 1; }\n`;
    return `chown ${numbers} . || exit 1\n${isConfined ? confined : ''}exec ${unprivileged} ${tar}`;
  };
  const numbers = owner ? `${owner.uid}:${owner.gid}` : '';
  const unpacking = owner ? asOwner(numbers) : `exec ${tar}`;
  // The layers above are 0700 and another user's: tar must not look a path up, so it starts where it is to unpack.
  const script = `${ensureDirectories([bases])} || exit 1
umask 022
${makeUnfinished(bases, name, kind)} || exit 1
${kind?.enter?.(unpacking, numbers) ?? unpacking}`;
  await using running = await host.spawn({ argv: ['sh', '-c', script], stdin: 'pipe' }, options);
  let said = '';
  const listening = (async () => {
    for await (const { bytes } of running) said = (said + new TextDecoder().decode(bytes)).slice(-4096);
  })();
  const reader = source.open(options).getReader();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      await running.write(chunk.value);
      failpoint('base-tree.half');
    }
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw error;
  }
  await running.closeStdin();
  await listening;
  const { code } = await running.exit;
  if (code !== 0) throw scriptError('provider.base-tree', code, said);
}
