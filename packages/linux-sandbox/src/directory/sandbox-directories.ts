import {
  type CallOptions,
  encodeRaw,
  type Host,
  LitterboxError,
  LOCAL_HOST,
  NETWORK_FILE_SYSTEMS,
  networkFileSystem,
  type ProgressOptions,
  quoted,
  failpoint,
  type RemoveOptions,
  type RuntimeStatus,
  SandboxId,
  shown,
  type WorkspaceSource,
} from '@litterbox/core/provider';
import { alreadyThere, brokenDescription, notHere, parseDescription } from '@litterbox/sandbox-kit';
import { type BaseTreesInput, ensureBaseTree } from './base-trees.ts';
import { copyError } from './copy-layers.ts';
import type { DirectoryDescription } from './directory-description.ts';
import type { DirectoryLayout } from './directory-layout.ts';
import { isDirectoryDescription, type ReadDescription } from './is-directory-description.ts';
import { listNamed } from '../script/list-named.ts';
import { RunMarks } from './run-marks.ts';
import { sandboxState, sandboxStates } from './sandbox-states.ts';
import { baseTreeName, type TreeKind } from './tree-kind.ts';
import { GIVEN, runAsking, runScriptOrFail, type ScriptResult } from '../script/run-script.ts';
import { scriptError } from '../script/script-error.ts';
import { STAGING_EXITS } from '../script/staging-exits.ts';
import { type SandboxFiles, sandboxFilesOf } from './sandbox-files.ts';
import { ARTEFACT_PREFIX } from './artefact-prefix.ts';
import { KEPT_BASES, setUnusedBasesAside } from './unused-bases.ts';
import { ensureDirectories, makeUnfinished, removeTree, sweepUnfinished, UNFINISHED } from './unfinished.ts';

/** Whose directories they are, and where. */
export interface SandboxDirectoriesInput<Layout extends DirectoryLayout> {
  /** The provider's name, for messages. */
  readonly provider: string;
  readonly host: Host;
  readonly layout: Layout;
  /** Kinds of trees that may be in them. @defaultValue none */
  readonly kinds?: readonly TreeKind[];
  /** Whether a description that was read has what this provider adds to {@link DirectoryDescription}. @defaultValue it adds nothing */
  readonly isOwn?: (description: ReadDescription) => boolean;
}

/** The beginning of a sandbox's directory. */
export interface StagedDirectory {
  /** Names of base trees, and of layers for them, that have to be there. Absent where that is known. */
  readonly bases?: readonly string[];
  /**
   * Shell text that fills the directory, which is the current one and has another name until it is complete. It fails with the first
   * command that does. It may ask, as `runAsking` has it.
   *
   * @param unfinished absolute path of the directory while it is filled
   */
  fill(unfinished: string): string;
  /** Does the same by a program, which gives the exit codes of the script; undefined where it has to be the script. */
  run?(staging: Staging, options?: CallOptions): Promise<Pick<ScriptResult, 'code' | 'stderr'>> | undefined;
}

/** All that is decided about making a directory, besides how it is filled. Paths are absolute. */
export interface Staging {
  /** Directories that have to be there; they are made with mode 0700. */
  readonly above: readonly string[];
  readonly parent: string;
  /** The directory under the name that no list shows, in `parent`. */
  readonly unfinished: string;
  readonly directory: string;
  /** Directories that have to be there, or the exit code says that one is missing. */
  readonly bases: readonly string[];
  /** Numbers of file systems that it cannot be on, by statfs(2). */
  readonly refused: readonly number[];
  /** Text of the file `meta.json`. */
  readonly description: string;
}

/** All that is decided about removing a directory, besides how its session is ended. Paths are absolute. */
export interface Removal {
  readonly directory: string;
  /** The name under which it is removed, which no list shows. */
  readonly gone: string;
  /** Trees that go with it. */
  readonly trees: readonly string[];
  /** Files that go with it. */
  readonly files: readonly string[];
  /** Shell text that removes a tree, whatever an agent has made of it. */
  removeTree(path: string): string;
  /** Shell text that clears away what killed programs left, and base trees that nobody stands on. */
  readonly sweep: string;
  /** Directories in which something unfinished takes {@link sweep}. */
  readonly swept: readonly string[];
  /** More base trees in this directory than are kept take {@link sweep} too, and so does a layer, known by its prefix. */
  readonly bases: { readonly directory: string; readonly kept: number; readonly layerPrefix: string };
  /** Paths of which one is there where it takes other programs to remove the directory. */
  readonly marks: readonly string[];
}

/** How what runs in a sandbox is ended before its directory goes. */
export interface RemovedDirectory {
  /** Shell text, run once; a subshell where it may exit. */
  readonly end?: string;
  /**
   * Shell text, run in the sandbox's directory each time that it is there: a program that cleans up may make it anew behind another
   * removal (runc makes the directory that it is told).
   */
  readonly clean?: string;
  /** Other directories with trees that killed programs may have left unfinished. */
  readonly swept?: readonly string[];
  /** Does all of it by a program, which gives the exit codes of the script; undefined where it has to be the script. */
  run?(removal: Removal): Promise<Pick<ScriptResult, 'code' | 'stderr'>> | undefined;
}

/** A description as one line of ASCII, for the scripts that write it: shells read no other bytes all alike. */
export function descriptionLine(meta: DirectoryDescription): string {
  return JSON.stringify(meta).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Shell text: ends where the current directory is on a network file system, and says which. Change times there are those of a server's
 * clock. They cannot be compared with a mark of this machine's, and a change that nobody sees is lost.
 */
const REFUSE_NETWORK_FILE_SYSTEM = `lb_type=$(stat -f -c %t . 2>/dev/null)
case $lb_type in ${[...NETWORK_FILE_SYSTEMS.keys()].map((magic) => magic.toString(16)).join('|')}) echo "$lb_type" >&2; exit ${STAGING_EXITS.networkFileSystem};; esac`;
/** How often a directory that comes back is removed. */
const MAX_ROUNDS = 20;
/** A line for each sandbox. Names and words are ours; whatever else is in the directory is no line. */
const STATUS = /^(running|paused|stopped|broken) (\S+)$/;

/**
 * The directories of a provider's sandboxes. Each is filled under a name that no list shows, and gets its own by a rename: whenever a
 * program is killed, a sandbox is there with all that it needs, or not at all. The next removal sweeps what a killed program left.
 *
 * Each step is one call of the host, however many directories and files it touches.
 */
export class SandboxDirectories<Meta extends DirectoryDescription, Layout extends DirectoryLayout = DirectoryLayout> {
  readonly provider: string;
  readonly host: Host;
  readonly layout: Layout;
  /** Shell text of the function `remove_tree`, for trees of each kind that may be here. */
  readonly removal: string;
  readonly #isOwn: (description: ReadDescription) => boolean;
  readonly #marks: readonly string[];

  constructor({ provider, host, layout, kinds, isOwn = () => true }: SandboxDirectoriesInput<Layout>) {
    this.removal = removeTree(kinds);
    this.#marks = kinds?.flatMap(({ marks }) => marks) ?? [];
    this.#isOwn = isOwn;
    this.provider = provider;
    this.host = host;
    this.layout = layout;
  }

  filesOf(id: SandboxId): SandboxFiles {
    return sandboxFilesOf(`${this.layout.sandboxes}/${id}`);
  }

  marksOf(id: SandboxId): RunMarks {
    return new RunMarks(this.provider, this.host, this.filesOf(id).directory);
  }

  /**
   * Makes the directory of a sandbox, with those above it.
   *
   * @throws LitterboxError `ALREADY_EXISTS` when the id is taken; `UNSUPPORTED_FS` on a network file system
   */
  async stage(meta: Meta, staged: StagedDirectory, options?: CallOptions): Promise<'staged' | 'base-missing'> {
    const staging = this.#staging(meta, staged.bases);
    const { code, stderr } = await (staged.run?.(staging, options) ??
      runAsking(this.host, this.#script(staging, staged), async () => {}, { ...options, given: staging.description }));
    if (code === STAGING_EXITS.baseMissing) return 'base-missing';
    if (code !== 0) throw this.stagingError(meta.id, code, stderr);
    return 'staged';
  }

  /** As {@link stage}, with the base tree unpacked where it is not there yet. */
  async stageOver(
    source: WorkspaceSource,
    trees: Pick<BaseTreesInput, 'owner' | 'isConfined' | 'kind'>,
    meta: Meta,
    fill: StagedDirectory['fill'],
    options?: ProgressOptions,
  ): Promise<void> {
    const staged = { bases: [baseTreeName(source.key, trees.kind)], fill };
    if ((await this.stage(meta, staged, options)) === 'base-missing')
      await this.stageUnpacked(source, trees, meta, { fill }, options);
  }

  /** As {@link stageOver}, for a base tree of which is known that it is not there. */
  async stageUnpacked(
    source: WorkspaceSource,
    trees: Pick<BaseTreesInput, 'owner' | 'isConfined' | 'kind'>,
    meta: Meta,
    filling: Omit<StagedDirectory, 'bases'>,
    options?: ProgressOptions,
  ): Promise<void> {
    await ensureBaseTree({ host: this.host, bases: this.layout.bases, ...trees }, source, options);
    failpoint('provider.after-base-tree');
    const staged = { bases: [baseTreeName(source.key, trees.kind)], ...filling };
    if ((await this.stage(meta, staged, options)) === 'base-missing')
      throw scriptError('provider.create', STAGING_EXITS.baseMissing, 'the base tree is gone again');
  }

  /** Shell text of {@link stage}, for who runs it as part of something else, and gives it the {@link descriptionLine}. */
  stagingScript(meta: Meta, staged: StagedDirectory): string {
    return this.#script(this.#staging(meta, staged.bases), staged);
  }

  #staging(meta: Meta, needed: readonly string[] = []): Staging {
    const { bases, disks, playgrounds, root, sandboxes } = this.layout;
    return {
      above: [root, bases, sandboxes, playgrounds, ...(meta.limits.diskBytes === undefined ? [] : [disks])],
      parent: sandboxes,
      unfinished: `${sandboxes}/${UNFINISHED}${crypto.randomUUID()}`,
      directory: this.filesOf(meta.id).directory,
      bases: needed.map((name) => `${bases}/${name}`),
      refused: [...NETWORK_FILE_SYSTEMS.keys()],
      description: descriptionLine(meta),
    };
  }

  #script(staging: Staging, { fill }: StagedDirectory): string {
    const { above, bases, parent, unfinished } = staging;
    const directory = quoted(staging.directory);
    const name = unfinished.slice(parent.length + 1);
    // Once more behind the lock: a removal may have taken away what nobody stood on.
    const areThere = bases.map((path) => `[ -d ${quoted(path)} ] || exit ${STAGING_EXITS.baseMissing}\n`).join('');
    // The sandbox's user finds its way through, and sees nothing on it.
    return `${ensureDirectories(above)} || exit ${STAGING_EXITS.unmakeable}
[ ! -e ${directory} ] || exit ${STAGING_EXITS.taken}
${areThere}umask 066
${makeUnfinished(parent, name)} || exit 1
lb_unfinished=${quoted(unfinished)}
${this.removal}trap 'cd /; remove_tree "$lb_unfinished" || :' EXIT
${REFUSE_NETWORK_FILE_SYSTEM}
${areThere}umask 022
set -e
${fill(unfinished)}
printf %s ${GIVEN} >meta.json
mv -T "$lb_unfinished" ${directory} || { [ ! -d ${directory} ] || exit ${STAGING_EXITS.taken}; exit 1; }
trap - EXIT`;
  }

  /** The error of a {@link stagingScript} that failed, from its exit code and what it printed. */
  stagingError(id: SandboxId, code: number, stderr: string): LitterboxError {
    if (code === STAGING_EXITS.taken) return alreadyThere(this.provider, id);
    if (code === STAGING_EXITS.networkFileSystem) return this.#onNetwork(stderr);
    if (code === STAGING_EXITS.diskTooSmall) return this.#tooSmall();
    if (code === STAGING_EXITS.unmakeable) return this.#unmakeable(code, stderr);
    return copyError('provider.create', this.provider, code, stderr);
  }

  #tooSmall(): LitterboxError {
    return new LitterboxError('RESOURCE_EXHAUSTED', 'The first files of the sandbox do not fit on its disk.', {
      operation: 'provider.create',
      provider: this.provider,
      hint: 'Ask for more (limits.disk), or use the strategy overlay, which copies none of them.',
    });
  }

  /** The C library's words, which are the same in every tool. */
  #unmakeable(code: number, stderr: string): LitterboxError {
    if (!/Permission denied|Operation not permitted|Read-only file system/.test(stderr))
      return scriptError('provider.create', code, stderr);
    return new LitterboxError(
      'PERMISSION_DENIED',
      `${shown(this.layout.root)} on ${this.host.name} cannot be made: ${shown(stderr.trim())}.`,
      {
        operation: 'provider.create',
        provider: this.provider,
        hint: 'Keep the state of Litterbox where you may write: set LITTERBOX_HOME.',
      },
    );
  }

  #onNetwork(magic: string): LitterboxError {
    const name = networkFileSystem(Number.parseInt(magic, 16)) ?? 'a network file system';
    return new LitterboxError(
      'UNSUPPORTED_FS',
      `${shown(this.layout.root)} on ${this.host.name} is on ${name}, whose times are those of another machine's clock.`,
      {
        operation: 'provider.create',
        provider: this.provider,
        hint: 'Keep the state of Litterbox on a disk of that machine: set LITTERBOX_HOME.',
      },
    );
  }

  /** @throws LitterboxError `NOT_FOUND`, or `SANDBOX_BROKEN` without a description that can be read */
  async read(id: SandboxId, options?: CallOptions): Promise<Meta> {
    const files = this.filesOf(id);
    const bytes = await this.host.files.read(files.meta, options);
    if (!bytes && !(await this.host.files.stat(files.directory, options))) throw notHere(this.provider, id);
    return this.parse(bytes ?? new Uint8Array(), files.meta, id);
  }

  /**
   * The description of a sandbox, of the bytes of a file there.
   *
   * @param place absolute path of the file, for the message
   * @param id of the sandbox that it has to be of. @defaultValue any
   * @throws LitterboxError `SANDBOX_BROKEN` for bytes that are none
   */
  parse(bytes: Uint8Array, place: string, id?: SandboxId): Meta {
    const read = parseDescription<ReadDescription>(bytes, place, this.provider, this.host.name);
    if ((id === undefined || read.id === id) && isDirectoryDescription(read) && this.#isOwn(read))
      return read as unknown as Meta; // which was just checked
    throw brokenDescription(place, this.provider, this.host.name);
  }

  /** Replaces the description of a sandbox that is there. */
  async rewrite(meta: Meta, options?: CallOptions): Promise<void> {
    await this.host.files.write(this.filesOf(meta.id).meta, encodeRaw(JSON.stringify(meta)), options);
  }

  /** All sandboxes; another machine is asked by one script, whatever their number. */
  async *list(options?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    if (this.host.name === LOCAL_HOST) return yield* sandboxStates(this.host.files, this.layout.sandboxes, options);
    const each = `is=running
if [ ! -e "$d/meta.json" ]; then [ -e "$d" ] || continue; is=broken
elif [ -e "$d/paused" ]; then is=paused
elif [ -e "$d/stopped" ]; then is=stopped; fi
printf '%s %s\\n' "$is" "$d"`;
    const listing = { parent: this.layout.sandboxes, each, operation: 'provider.list' };
    for (const line of await listNamed(this.host, listing, options)) {
      const [, state, id = ''] = STATUS.exec(line) ?? [];
      if (state !== undefined && SandboxId.is(id)) yield { id, state: state as RuntimeStatus['state'] };
    }
  }

  /** One sandbox, without a look at the others; undefined where there is none of that id. */
  async state(id: SandboxId, options?: CallOptions): Promise<RuntimeStatus | undefined> {
    return await sandboxState(this.host.files, this.filesOf(id).directory, id, options);
  }

  /**
   * Removes the directory of a sandbox with its playground and its disk. Absent is fine. Renamed first: from then on it is in no list, and
   * a removal that was killed half-way is finished by the next sweep. Not aborted half way.
   */
  async remove(
    id: SandboxId,
    { end = '', clean, swept = [], run }: RemovedDirectory,
    options?: RemoveOptions,
  ): Promise<void> {
    const removal = this.#removal(id, swept, options);
    const result = await run?.(removal);
    if (result && result.code !== STAGING_EXITS.byShell) {
      if (result.code !== 0) throw scriptError('provider.remove', result.code, result.stderr);
      return;
    }
    const [directory, gone] = [quoted(removal.directory), quoted(removal.gone)];
    const own = [
      ...removal.trees.map((path) => ` && remove_tree ${quoted(path)}`),
      ...removal.files.map((path) => ` && rm -f ${quoted(path)}`),
    ].join('');
    const script = `${this.removal}${end}
n=0
while [ -d ${directory} ]; do
n=$((n+1)); [ $n -le ${MAX_ROUNDS} ] || { echo 'its directory comes back' >&2; exit 1; }
${clean === undefined ? '' : `( cd ${directory} 2>/dev/null || exit 0\n${clean}\n) || exit 1\n`}mv -T ${directory} ${gone} 2>/dev/null || [ $n -lt ${MAX_ROUNDS} ] || [ ! -d ${directory} ] || mv -T ${directory} ${gone} || exit 1
remove_tree ${gone} || exit 1
done
remove_tree ${gone}${own} || exit 1
${removal.sweep}`;
    await runScriptOrFail(this.host, 'provider.remove', script);
  }

  #removal(id: SandboxId, swept: readonly string[], options?: RemoveOptions): Removal {
    const { bases, disks, playgrounds, sandboxes } = this.layout;
    const { directory } = this.filesOf(id);
    const gone = `${sandboxes}/${UNFINISHED}${id}`;
    return {
      directory,
      gone,
      marks: [directory, gone].flatMap((place) => this.#marks.map((mark) => `${place}/${mark}`)),
      trees: options?.keepPlayground ? [] : [`${playgrounds}/${id}`],
      files: options?.keepPlayground ? [] : [`${disks}/${id}`],
      removeTree: (path) => `${this.removal}remove_tree ${quoted(path)}`,
      sweep: `${this.removal}${sweepUnfinished(sandboxes)}
${setUnusedBasesAside(this.layout)}
${[bases, ...swept].map(sweepUnfinished).join('\n')}`,
      swept: [sandboxes, bases, ...swept],
      bases: { directory: bases, kept: KEPT_BASES, layerPrefix: ARTEFACT_PREFIX },
    };
  }
}
