import {
  quoted,
  encodeRaw,
  type KeptSnapshot,
  LitterboxError,
  MAX_SNAPSHOT_NOTE_BYTES,
  SandboxId,
  type CallOptions,
  type SnapshotName,
  type SnapshotProvider,
  type SnapshotUsage,
  type TakeSnapshotOptions,
} from '@litterbox/core/provider';
import { listNamed } from '../script/list-named.ts';
import { cannotHonour } from '@litterbox/sandbox-kit';
import { copiesPlan } from '../script/copies-plan.ts';
import { confinedCopy } from '../directory/copy-layers.ts';
import type { DirectoryDescription } from '../directory/directory-description.ts';
import type { Layer } from '../directory/layer.ts';
import type { PlanEntry } from '../script/plan-entry.ts';
import { replaceLayersScript, type RestorePlace, restorePlan, RESTORING } from './restore-layers.ts';
import { runScriptOrFail } from '../script/run-script.ts';
import { descriptionLine, type SandboxDirectories } from '../directory/sandbox-directories.ts';
import { DISK_USAGE, snapshotUsage } from './snapshot-usage.ts';
import { ensureDirectories, makeUnfinished, sweepUnfinished, UNFINISHED } from '../directory/unfinished.ts';

/** How a provider keeps its sandboxes, for {@link LayerSnapshots}. */
export interface LayerSnapshotsInput<Meta extends DirectoryDescription> {
  /** On one mount, below whose root the snapshots lie too, in `snapshots`. */
  readonly directories: SandboxDirectories<Meta>;
  /** The directories that hold workspace and home. */
  layersOf(meta: Meta): readonly Layer[];
  /** @throws LitterboxError when this user cannot copy layers */
  assertCopyable(options?: CallOptions): Promise<void>;
  isRoot(options?: CallOptions): Promise<boolean>;
  /** Shell text as {@link DISK_USAGE}, for one directory of a snapshot. @defaultValue that one */
  readonly diskUsage?: string;
  /** Runs shell text on the host while the sandbox stands still. @throws LitterboxError as `copyError` has it */
  still(meta: Meta, script: string, options?: CallOptions): Promise<void>;
  /**
   * Does the same by a plan of the session program, which it says how to stand still; false where it takes the text.
   *
   * @throws LitterboxError as `copyError` has it
   */
  stage?(meta: Meta, plan: readonly PlanEntry[], options?: CallOptions): Promise<boolean>;
  /**
   * Goes back by a plan of the session program (`packages/session-program/src/restore.h`), which it says whose session ends; false where it takes the text.
   *
   * @throws LitterboxError as `copyError` has it
   */
  putBack?(meta: Meta, plan: readonly PlanEntry[], options?: CallOptions): Promise<boolean>;
  /** Ends all that runs in the sandbox, then runs shell text on the host before anything starts in it again. */
  ended(meta: Meta, script: string): Promise<void>;
  /**
   * The description of a sandbox that gets the layers of another description's.
   *
   * @throws LitterboxError `UNSUPPORTED` when these layers are no good there
   */
  restored(meta: Meta, kept: Meta): Meta;
}

/** Names that are ours: nothing else is ever looked for. */
const NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const OPERATION = 'snapshot.restore';
/** In a snapshot's directory: what {@link LayerSnapshots.list} tells of it. Snapshots of earlier releases lack it. */
const KEPT = 'kept.json';
/** The last moment that a date can be. @see https://tc39.es/ecma262/#sec-time-values-and-time-range */
const MAX_TIME_MS = 8.64e15;
/** More than a description of ours takes. */
const MAX_KEPT_BYTES = 2 ** 16;

/**
 * Snapshots of sandboxes whose files are layers: copies of the layers of workspace and home, each in a directory of its own. A copy is
 * complete before it gets its name; what a killed program left is swept. The playground is no part of it.
 */
export class LayerSnapshots<Meta extends DirectoryDescription> implements SnapshotProvider {
  readonly #input: LayerSnapshotsInput<Meta>;
  readonly #directories: SandboxDirectories<Meta>;
  readonly #snapshots: string;

  constructor(input: LayerSnapshotsInput<Meta>) {
    this.#input = input;
    this.#directories = input.directories;
    this.#snapshots = `${input.directories.layout.root}/snapshots`;
  }

  async take(id: SandboxId, options?: TakeSnapshotOptions): Promise<SnapshotName> {
    options?.signal?.throwIfAborted();
    const { still, stage, layersOf } = this.#input;
    const { root } = this.#directories.layout;
    const { directory } = this.#directories.filesOf(id);
    const meta = await this.#read(id, options);
    await this.#assertCopyable(meta, options);
    const name = crypto.randomUUID();
    const unfinished = `${UNFINISHED}${name}`;
    const kept = `${this.#snapshots}/${unfinished}`;
    const told = JSON.stringify({ sandbox: id, takenAtMs: Date.now(), note: options?.note });
    const copies = layersOf(meta)
      .map(({ name: layer, copy }) => copy(`${directory}/${layer}`, `${kept}/${layer}`))
      .join(' && ');
    const script = `${ensureDirectories([this.#snapshots])} || exit 1
${makeUnfinished(this.#snapshots, unfinished)} || exit 1
${confinedCopy({ root, isRoot: await this.#input.isRoot(options), copy: copies })} || exit
for lb_meta in meta.json ${RESTORING}; do [ ! -e ${quoted(directory)}/$lb_meta ] || break; done
cp -- ${quoted(directory)}/$lb_meta meta.json && printf %s ${quoted(told)} >${KEPT} || exit 1
mv -T ${quoted(kept)} ${quoted(`${this.#snapshots}/${name}`)}`;
    const plan = this.#plan(meta, { directory, kept, whole: `${this.#snapshots}/${name}`, note: told });
    try {
      if (!plan || !(await stage?.(meta, plan, options))) await still(meta, script, options);
    } catch (error) {
      await this.#sweep();
      throw error;
    }
    return name;
  }

  /** The same as the script of {@link take}; undefined where it takes other programs. */
  #plan(
    meta: Meta,
    { directory, kept, whole, note }: Readonly<Record<'directory' | 'kept' | 'whole' | 'note', string>>,
  ): readonly PlanEntry[] | undefined {
    const copies = copiesPlan({
      root: this.#directories.layout.root,
      layers: this.#input.layersOf(meta),
      from: directory,
      to: kept,
      // A killed restore has left the description under the other name.
      more: [RESTORING, 'meta.json'].map((file) => ['file', `${directory}/${file}`, `${kept}/meta.new`]),
    });
    return (
      copies && [
        ['above', this.#snapshots],
        ['names', this.#snapshots, kept, whole],
        ['bases'],
        ['refused'],
        copies,
        ['move', 'meta.new', 'meta.json'],
        ['write', KEPT, note],
        ['go'],
      ]
    );
  }

  async restore(id: SandboxId, snapshot: SnapshotName, options?: CallOptions): Promise<void> {
    options?.signal?.throwIfAborted();
    const from = await this.#found(snapshot, options);
    const kept = (await this.#directories.host.files.read(`${from}/meta.json`, options)) ?? new Uint8Array();
    const keptMeta = this.#directories.parse(kept, `${from}/meta.json`);
    const meta = await this.#read(id, options);
    await this.#assertCopyable(meta, options);
    const next = this.#input.restored(meta, keptMeta);
    const { layout, removal } = this.#directories;
    const { directory } = this.#directories.filesOf(id);
    const place = { root: layout.root, directory, removal, layers: this.#input.layersOf(next) };
    const plan = restorePlan(place, from, descriptionLine(next));
    if (plan && (await this.#input.putBack?.(meta, plan, options))) return;
    await this.#restoreByShell(meta, place, from, descriptionLine(next), options);
  }

  async #restoreByShell(
    meta: Meta,
    place: RestorePlace,
    from: string,
    description: string,
    options?: CallOptions,
  ): Promise<void> {
    const { host } = this.#directories;
    const { root, directory, removal, layers } = place;
    const copies = layers.map(({ name, copy }) => copy(`${from}/${name}`, `${directory}/restored/${name}`));
    const prepare = `${removal}cd ${quoted(directory)} && exec 7>>restore.lock && flock -w 60 7 || exit 1
remove_tree restored && mkdir restored || exit 1
${confinedCopy({ root, isRoot: await this.#input.isRoot(options), copy: copies.join(' && ') })}`;
    await runScriptOrFail(host, OPERATION, prepare, options);
    options?.signal?.throwIfAborted();
    // From here on it is not left half-way but by a kill, which leaves a sandbox that another restore, or a removal, is good for.
    await runScriptOrFail(
      host,
      OPERATION,
      `cd ${quoted(directory)} && { [ ! -e meta.json ] || mv -T meta.json ${RESTORING}; }`,
    );
    // No part of a script: every user of the machine reads the arguments of its processes.
    await host.files.write(`${directory}/meta.new`, encodeRaw(description));
    await this.#input.ended(meta, replaceLayersScript(place));
  }

  /** All of them by one script, whatever their number. */
  async *list(options?: CallOptions): AsyncGenerator<KeptSnapshot, void, undefined> {
    options?.signal?.throwIfAborted();
    const each = `kept=$d/${KEPT}
[ -e "$kept" ] || kept=$d/meta.json
taken=$(stat -c %Y "$kept" 2>/dev/null) || continue
printf '%s %s ' "$d" "$taken"
head -c ${MAX_KEPT_BYTES} "$kept" 2>/dev/null
echo`;
    const listing = { parent: this.#snapshots, each, operation: 'snapshot.list', isOftenEmpty: true } as const;
    for (const line of await listNamed(this.#directories.host, listing, options)) {
      const snapshot = parseKept(line);
      if (snapshot) yield snapshot;
    }
  }

  async usage(
    snapshots: readonly SnapshotName[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<SnapshotName, SnapshotUsage>> {
    options?.signal?.throwIfAborted();
    const { host, layout } = this.#directories;
    const { isRoot, diskUsage = DISK_USAGE } = this.#input;
    const where = { host, root: layout.root, isRoot: await isRoot(options), snapshots: this.#snapshots, diskUsage };
    return await snapshotUsage(
      where,
      snapshots.filter((name) => NAME.test(name)),
      options,
    );
  }

  async remove(snapshot: SnapshotName, options?: CallOptions): Promise<void> {
    options?.signal?.throwIfAborted();
    if (!NAME.test(snapshot)) return;
    const from = quoted(`${this.#snapshots}/${snapshot}`);
    const gone = quoted(`${this.#snapshots}/${UNFINISHED}${snapshot}`);
    // Renamed first: from then on it is in no list.
    await runScriptOrFail(
      this.#directories.host,
      'snapshot.remove',
      `${this.#directories.removal}[ ! -d ${from} ] || mv -T ${from} ${gone} || [ ! -d ${from} ] || exit 1
remove_tree ${gone} || exit 1
${sweepUnfinished(this.#snapshots)}`,
    );
  }

  /** Removes what killed programs left, too. */
  async #sweep(): Promise<void> {
    await runScriptOrFail(
      this.#directories.host,
      'snapshot.sweep',
      `${this.#directories.removal}${sweepUnfinished(this.#snapshots)}`,
    );
  }

  async #read(id: SandboxId, options?: CallOptions): Promise<Meta> {
    const { host } = this.#directories;
    const { directory, meta } = this.#directories.filesOf(id);
    const interrupted = await host.files.read(`${directory}/${RESTORING}`, options);
    if (interrupted && !(await host.files.stat(meta, options)))
      return this.#directories.parse(interrupted, `${directory}/${RESTORING}`, id);
    return await this.#directories.read(id, options);
  }

  async #found(snapshot: SnapshotName, options?: CallOptions): Promise<string> {
    const path = `${this.#snapshots}/${snapshot}`;
    if (NAME.test(snapshot) && (await this.#directories.host.files.stat(path, options))) return path;
    throw new LitterboxError('NOT_FOUND', 'There is no such snapshot here.', {
      operation: OPERATION,
      provider: this.#directories.provider,
      hint: 'List what there is.',
    });
  }

  async #assertCopyable({ limits }: Meta, options?: CallOptions): Promise<void> {
    await this.#input.assertCopyable(options);
    if (limits.diskBytes !== undefined)
      throw cannotHonour(
        this.#directories.provider,
        'snapshots of a sandbox with limits.disk',
        'Fork the sandbox instead, or make one without that limit.',
      );
  }
}

/** A line of the script of `list`: the name, a time in seconds, and what the snapshot or, in an earlier release, its sandbox is said to be. */
function parseKept(line: string): KeptSnapshot | undefined {
  const [, name = '', seconds = '', text = ''] = /^(\S+) (\d{1,12}) (.*)$/s.exec(line) ?? [];
  if (!NAME.test(name)) return undefined;
  const { sandbox, id, takenAtMs, note } = parseObject(text);
  const of = sandbox ?? id;
  if (typeof of !== 'string' || !SandboxId.is(of)) return undefined; // removed or damaged meanwhile
  return {
    name,
    sandbox: of,
    takenAtMs: isTime(takenAtMs) ? takenAtMs : Number(seconds) * 1000,
    ...(typeof note === 'string' && note.length <= MAX_SNAPSHOT_NOTE_BYTES && { note }),
  };
}

/** Milliseconds that are a date. */
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_TIME_MS && Number.isInteger(value);

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
