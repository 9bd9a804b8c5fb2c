import { type CallOptions, type Host, type WorkspaceSource } from '@litterbox/core/provider';
import { type BaseTreesInput, ensureBaseTree } from './base-trees.ts';
import { MADE_OVER } from './keep-setup.ts';

/** A layer of files that are newer than a kept setup, for between it and the base: name of its directory, beside the base trees. */
export type NewerFiles = string;

/** Over which base a kept setup ran, and until when. */
interface MadeOver {
  readonly base: string;
  readonly timeSeconds: number;
}

/**
 * What has to lie over a base below a kept setup so that builds see which files are others than the setup saw. Nothing where the setup
 * ran over the same base. Makes the layer unless it is there; its cost is what differs, whatever the size of the base.
 *
 * @param setup absolute directory of the kept setup
 * @returns for the sandbox's description; undefined for a kept setup that cannot be begun with
 */
export async function ensureNewerFiles(
  input: BaseTreesInput,
  workspace: WorkspaceSource,
  setup: string,
  options?: CallOptions,
): Promise<{ readonly newer?: NewerFiles } | undefined> {
  const made = await readMadeOver(input.host, setup, options);
  if (made?.base === workspace.key) return {};
  if (!made || !workspace.openUnlike) return undefined;
  // After the last moment of the setup, whose times are finer than whole seconds.
  const timeSeconds = made.timeSeconds + 1;
  const key = `${workspace.key}-${made.base}-${timeSeconds}`;
  const open = (options?: CallOptions) =>
    workspace.openUnlike?.(made.base, timeSeconds, options) ?? workspace.open(options);
  await ensureBaseTree(input, { key, open }, { signal: options?.signal });
  // Builds warn of files from the future, and may build them again and again.
  await passed(timeSeconds * 1000, options?.signal);
  return { newer: key };
}

/** Waits until that moment is over: at most the second that it lies after the setup. */
async function passed(momentMs: number, signal: AbortSignal | undefined): Promise<void> {
  const leftMs = Math.min(momentMs - Date.now(), 1100);
  if (leftMs <= 0) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, leftMs);
    signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
  signal?.throwIfAborted();
}

async function readMadeOver(host: Host, setup: string, options?: CallOptions): Promise<MadeOver | undefined> {
  const bytes = await host.files.read(`${setup}/${MADE_OVER}`, options);
  const [, base, seconds] = /^([0-9a-f]{8,128}) ([0-9]{1,12})$/.exec(new TextDecoder().decode(bytes)) ?? [];
  return base === undefined || seconds === undefined ? undefined : { base, timeSeconds: Number(seconds) };
}
