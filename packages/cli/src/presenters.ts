import type { Context } from './context.ts';

/** Carries an operation out and shows its result. `flags` holds the options that are the command line's own. */
export type Present = (context: Context, input: never, flags: never) => Promise<void>;

export interface Presenter {
  /** Options on top of the operation's: how things are shown, and what is asked. */
  readonly options?: readonly (readonly [flags: string, description: string])[];
  /** A positional key that may be given again and again; the presenter gets all of them, unchecked. */
  readonly repeated?: string;
  load(): Promise<Present>;
}

/** By operation, in the order in which people meet them. Loaded when run: start-up knows names and options alone. */
export const PRESENTERS: Readonly<Record<string, Presenter>> = {
  'sandbox-create': { load: async () => (await import('./commands/create.ts')).create },
  'sandbox-run': {
    options: [['-t, --tty', 'with a terminal']],
    load: async () => (await import('./commands/run.ts')).run,
  },
  'sandbox-shell': { load: async () => (await import('./commands/run.ts')).shell },
  'sandbox-list': { load: async () => (await import('./commands/list.ts')).list },
  'sandbox-log': {
    options: [['-p, --patch', 'with the diff of each']],
    load: async () => (await import('./commands/review.ts')).log,
  },
  'sandbox-diff': {
    options: [
      ['--stat', 'files and counts'],
      ['--name-only', 'paths'],
      ['--raw', 'control characters as they are, on a terminal too'],
    ],
    load: async () => (await import('./commands/review.ts')).diff,
  },
  'sandbox-milestone': { load: async () => (await import('./commands/manage.ts')).milestone },
  'sandbox-apply': {
    options: [['--dry-run', 'show what would happen']],
    load: async () => (await import('./commands/review.ts')).apply,
  },
  'sandbox-merge': {
    options: [['--dry-run', 'show what would happen']],
    load: async () => (await import('./commands/review.ts')).merge,
  },
  'sandbox-delete': { repeated: 'sandbox', load: async () => (await import('./commands/manage.ts')).remove },
  'sandbox-pause': { load: async () => (await import('./commands/manage.ts')).pause },
  'sandbox-resume': { load: async () => (await import('./commands/manage.ts')).resume },
  'sandbox-restore': { load: async () => (await import('./commands/manage.ts')).restore },
  'sandbox-recover': { load: async () => (await import('./commands/manage.ts')).recover },
  'sandbox-worktree': { load: async () => (await import('./commands/manage.ts')).worktree },
  'sandbox-explain': { load: async () => (await import('./commands/machine.ts')).explain },
  'machine-check': { load: async () => (await import('./commands/machine.ts')).doctor },
  'config-trust': {
    options: [
      ['--show', 'only show it'],
      ['--yes', 'without asking'],
    ],
    load: async () => (await import('./commands/machine.ts')).trust,
  },
  'audit-list': {
    options: [['--verify', 'walk the whole chain of hashes']],
    load: async () => (await import('./commands/machine.ts')).audit,
  },
};
