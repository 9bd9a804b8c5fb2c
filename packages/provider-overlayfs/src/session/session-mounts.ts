import { EMPTY } from './detach-trees.ts';
import { DISK } from '../layers/disk.ts';
import { HIDDEN, LIVE } from '../layers/live-lower.ts';
import type { SessionMount } from '../plan/mount-table.ts';
import type { SupervisorInput } from './supervisor-input.ts';
import { isOfPerson } from '../machine/tool-directories.ts';

/** The mounts of a session, in whatever way it is started. */
export interface SessionMounts {
  /** Directories in the sandbox's own that mounts need, by names relative to it. */
  readonly places: readonly string[];
  /** The sandbox's directory itself, at `/run`. */
  readonly own: SessionMount;
  /** Everything else, in order. */
  readonly mounts: readonly SessionMount[];
  /** Trees of the machine among them, whose sockets and pipes nobody inside may reach. */
  readonly trees: readonly string[];
  /** Those of the trees that hold tools of the person. */
  readonly tools: readonly string[];
}

const bind = (source: string, target: string) => ({ type: 'bind', source, target }) as const;

/** Decides what a session mounts. */
export function sessionMounts(input: SupervisorInput): SessionMounts {
  const { machine, meta, strategy, directory, live, base, setup, newer, difference, playground, disk, etc, sources } =
    input;
  const roots = meta.root.type === 'directory' ? [bind(meta.root.path, '/run/root')] : [];
  const trees = [...sources.tools.map(({ source }) => source), ...roots.map(({ target }) => target)];
  return {
    places: [
      ...(trees.length === 0 ? [] : [EMPTY.slice('/run/'.length)]),
      ...(setup === undefined ? [] : ['setup']),
      ...(newer === undefined ? [] : ['newer']),
      ...(difference === undefined && !live ? [] : ['difference']),
      ...(live ? ['live'] : []),
      ...sources.tools.map(({ source }) => source.slice('/run/'.length)),
    ],
    own: bind(directory, '/run'),
    mounts: [
      ...(meta.limits.diskBytes === undefined ? [bind(playground, '/run/playground')] : []),
      bind(etc, '/run/etc'),
      ...sources.tools.map(({ source, target }) => bind(target, source)),
      ...roots,
      ...strategy.mounts(
        live ? LIVE : base,
        machine.isRoot,
        disk ? DISK : '/run',
        setup,
        newer,
        live ? HIDDEN : difference,
      ),
    ],
    trees,
    tools: sources.tools.filter(({ target }) => isOfPerson(target)).map(({ source }) => source),
  };
}
