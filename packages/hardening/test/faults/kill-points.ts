// Every failpoint of the product with what must be after a kill there and one reconcile. failpoints.test.ts compares with the sources.

/** Nothing of the sandbox may be there afterwards, or all of it. */
export const CREATE: Readonly<Record<string, 'undone' | 'done'>> = {
  'create.after-journal': 'undone',
  'create.after-record': 'undone',
  'pin.before-name': 'undone',
  'begin.after-user-pin': 'undone',
  'journal.before-sync': 'undone',
  'journal.after-append': 'undone',
  'journal.before-last-ref': 'undone',
  'begin.after-meta': 'undone',
  'objects.after-rename': 'undone',
  'base-tree.half': 'undone',
  'base-tree.before-name': 'undone',
  'provider.after-base-tree': 'undone',
  'provider.after-difference': 'undone',
  'provider.after-directory': 'undone',
  'session.after-link': 'undone',
  'session.before-go': 'undone',
  'session.after-go': 'undone',
  'provider.after-session': 'undone',
  'create.after-runtime': 'undone',
  'create.after-assurance': 'undone',
  'create.after-setup': 'undone',
  'create.after-ready': 'done',
  'create.after-end': 'done',
};

/** The same for a sandbox in a container. */
export const CONTAINER_CREATE: Readonly<Record<string, 'undone'>> = {
  'container.after-directory': 'undone',
  'container.after-disk': 'undone',
  'container.after-volumes': 'undone',
  'container.after-create': 'undone',
  'container.after-start': 'undone',
  'container.after-controls': 'undone',
};

/** A fork: nothing of it may be there afterwards, or all of it; its source is as it was, and goes on. */
export const FORK: Readonly<Record<string, 'undone' | 'done'>> = {
  'fork.after-journal': 'undone',
  'fork.after-record': 'undone',
  'fork.after-user-pin': 'undone',
  'fork.before-meta': 'undone',
  'fork.after-meta': 'undone',
  'provider.after-directory': 'undone',
  'fork.after-runtime': 'undone',
  'fork.after-scan': 'undone',
  'fork.after-ready': 'done',
};

/** The same for a sandbox in a container, while the engine has paused the source. */
export const CONTAINER_FORK: Readonly<Record<string, 'undone'>> = {
  'container.after-freeze': 'undone',
};
/** While something is installed into an image: whether it is there for the next create, which then does not install it. */
export const INSTALL: Readonly<Record<string, 'not kept' | 'kept'>> = {
  'install.after-create': 'not kept',
  'install.before-keep': 'not kept',
  'install.after-keep': 'kept',
};

/** The same with a setup: whether what it left is found by the next one, which then does not run it. */
export const KEEP: Readonly<Record<string, 'not kept' | 'kept'>> = {
  'create.before-keep': 'not kept',
  'create.after-keep': 'kept',
};

/**
 * A command that writes a file: `before` it, so that nothing is there; `unrecorded`: the next call records it as recovered;
 * `recorded`: it is, and nobody may record it again.
 */
export const RUN: Readonly<Record<string, 'before' | 'unrecorded' | 'recorded'>> = {
  'exec.after-start': 'before',
  'exec.after-exit': 'unrecorded',
  'record.after-scan': 'unrecorded',
  'record.after-tree': 'unrecorded',
  'record.after-commit': 'unrecorded',
  'record.before-ref': 'unrecorded',
  'journal.before-sync': 'recorded', // the kernel has it
  'journal.after-append': 'recorded',
  'journal.before-last-ref': 'recorded',
  'objects.after-rename': 'recorded',
  'record.after-ref': 'recorded',
  'record.before-mark': 'recorded',
  'record.after-mark': 'recorded',
  'change.after-record': 'recorded',
};

/** The same when it is too much for the journal. */
export const LARGE_RUN: Readonly<Record<string, 'unrecorded' | 'recorded'>> = {
  'journal.after-pack': 'unrecorded',
  'journal.before-clear': 'unrecorded',
  'objects.after-rename': 'unrecorded',
  'record.before-ref': 'unrecorded',
  'ref.before-rename': 'unrecorded',
  'ref.after-rename': 'recorded',
};

export const WRITE: Readonly<Record<string, 'unrecorded'>> = { 'write.after-rename': 'unrecorded' };

/** Whether the milestone is there after a reconcile; when not, cutting it again does. */
export const MILESTONE: Readonly<Record<string, 'undone' | 'done'>> = {
  'milestone.after-commit': 'undone',
  'publish.after-check': 'undone',
  'publish.before-rename': 'undone',
  'publish.after-file': 'undone',
  'milestone.after-publish': 'undone',
  'ref.before-rename': 'undone',
  'ref.after-rename': 'done',
  'milestone.after-ref': 'done',
  'milestone.after-cut': 'done',
};

/** Whether the user's repository is as before or has the work after a reconcile. For an apply and for a merge. */
export const INTEGRATE: Readonly<Record<string, 'undone' | 'done'>> = {
  'integrate.after-start': 'undone',
  'integrate.before-objects': 'undone',
  'publish.after-check': 'undone',
  'publish.before-rename': 'undone',
  'publish.after-file': 'undone',
  'file.before-rename': 'undone',
  'integrate.after-journal': 'undone',
  'integrate.after-old-index': 'undone',
  'integrate.after-link': 'undone',
  'integrate.after-lock': 'undone',
  'integrate.after-next-index': 'undone',
  'work-tree.after-removal': 'undone',
  'work-tree.after-writing': 'undone',
  'integrate.after-files': 'undone',
  'integrate.before-head': 'done',
  'integrate.after-head': 'done',
  'integrate.after-index': 'done',
  'integrate.after-finish': 'done',
  'integrate.after-unstash': 'done',
  'integrate.before-close': 'done',
  'integrate.after-close': 'done',
  'integrate.after-execute': 'done',
};

/** A merge alone: the work is in, the sandbox is there until merge or delete is said once more. */
export const MERGE: Readonly<Record<string, 'done'>> = { 'merge.before-delete': 'done' };

/** Steps of an integration that puts uncommitted work aside. */
export const STASH: Readonly<Record<string, 'undone'>> = {
  'stash.after-ref': 'undone',
  'stash.after-journal': 'undone',
  'stash.after-reset': 'undone',
};

/** `kept`: the deletion had not begun, so it has to be said again. */
export const DELETE: Readonly<Record<string, 'kept' | 'deleted'>> = {
  'delete.after-journal': 'kept',
  'delete.after-mark': 'deleted',
  'delete.after-close': 'deleted',
  'provider.before-remove': 'deleted',
  'delete.after-runtime': 'deleted',
  'delete.after-snapshots': 'deleted',
  'ref.before-rename': 'deleted',
  'remove.after-tombstone': 'deleted',
  'remove.after-branch': 'deleted',
  'remove.after-pin': 'deleted',
  'remove.after-meta': 'deleted',
  'delete.after-history': 'deleted',
  'delete.after-record': 'deleted',
  'delete.after-end': 'deleted',
};

/** The same for a sandbox in a container. */
export const CONTAINER_DELETE: Readonly<Record<string, 'deleted'>> = {
  'container.before-remove': 'deleted',
  'container.after-remove': 'deleted',
  'container.after-volumes-removed': 'deleted',
};

/** Points on the way from one state to another; afterwards the record says what the runtime is. */
export const RUN_STATE: readonly (readonly [
  point: string,
  from: 'ready' | 'paused' | 'stopped',
  to: 'ready' | 'paused' | 'stopped',
])[] = [
  ['pause.after-mark', 'ready', 'paused'],
  ['run-state.after-runtime', 'ready', 'paused'],
  ['run-state.after-record', 'ready', 'paused'],
  ['stop.after-mark', 'ready', 'stopped'],
  ['run-state.after-runtime', 'ready', 'stopped'],
  ['run-state.after-record', 'ready', 'stopped'],
  ['resume.after-thaw', 'paused', 'ready'],
  ['run-state.after-runtime', 'paused', 'ready'],
  ['run-state.after-record', 'paused', 'ready'],
  ['run-state.after-runtime', 'stopped', 'ready'],
];

/** The same for a sandbox in a container. */
export const CONTAINER_RUN_STATE: typeof RUN_STATE = [
  ['container.after-paused-mark', 'ready', 'paused'],
  ['container.after-unpause', 'paused', 'ready'],
  ['container.after-stopped-mark', 'ready', 'stopped'],
  ['container.after-kill', 'ready', 'stopped'],
];

/** Where a restore was killed, and what history and workspace both hold after a reconcile. */
export const RESTORE: Readonly<Record<string, 'restored'>> = {
  'restore.after-files': 'restored',
  'restore.after-revision': 'restored',
};

/** A snapshot that was taken is one, whoever waited for it. */
export const SNAPSHOT: readonly string[] = ['snapshot.after-take'];

/** Where going back to a snapshot was killed, and what the sandbox was. Until it has begun nothing changes; from then on it is finished. */
export const SNAPSHOT_RESTORE: readonly (readonly [
  point: string,
  state: 'ready' | 'stopped',
  outcome: 'as it was' | 'restored',
])[] = [
  ['snapshot-restore.after-waking', 'stopped', 'as it was'],
  ['snapshot-restore.after-journal', 'ready', 'restored'],
  ['snapshot-restore.after-mark', 'ready', 'restored'],
  ['snapshot-restore.after-runtime', 'ready', 'restored'],
  ['snapshot-restore.after-step', 'ready', 'restored'],
  ['snapshot-restore.after-record', 'stopped', 'restored'],
  ['snapshot-restore.after-revision', 'ready', 'restored'],
  ['snapshot-restore.after-scan', 'ready', 'restored'],
];

/** Where a recovery was killed. The next reconcile finishes it. */
export const RECOVER: readonly string[] = [
  'rebuild.after-journal',
  'rebuild.after-remove',
  'provider.after-directory',
  'rebuild.after-create',
  'rebuild.after-record',
];

/** A reconcile that is killed itself is finished by the next. */
export const RECONCILE: readonly string[] = [
  'reconcile.after-repository',
  'delete.after-mark',
  'delete.after-runtime',
  'delete.after-history',
  'reconcile.before-end',
];
