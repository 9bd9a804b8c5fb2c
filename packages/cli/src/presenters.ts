import type { Operation } from '@litterbox/core';
import type { Context } from './context.ts';

/** An operation and how its result is shown. `flags` holds the options that are the command line's own. */
export interface Presented {
  readonly operation: Operation;
  present(context: Context, input: never, flags: never): Promise<void>;
}

export interface Presenter {
  /** Options on top of the operation's: how things are shown, and what is asked. */
  readonly options?: readonly (readonly [flags: string, description: string])[];
  /** A positional key that may be given again and again; the presenter gets all of them, unchecked. */
  readonly repeated?: string;
  load(): Promise<Presented>;
}

/** By operation. Loaded when run: start-up knows names and options alone. */
export const PRESENTERS: Readonly<Record<string, Presenter>> = {
  'sandbox-create': { load: async () => (await import('./commands/create.ts')).presented['sandbox-create'] },
  'sandbox-fork': { load: async () => (await import('./commands/create.ts')).presented['sandbox-fork'] },
  'sandbox-race': {
    options: [['-y, --yes', 'remove the forks that did not win, without asking']],
    load: async () => (await import('./commands/race.ts')).presented['sandbox-race'],
  },
  'sandbox-run': {
    options: [['-t, --tty', 'with a terminal']],
    load: async () => (await import('./commands/run.ts')).presented['sandbox-run'],
  },
  'sandbox-shell': { load: async () => (await import('./commands/run.ts')).presented['sandbox-shell'] },
  'sandbox-service': { load: async () => (await import('./commands/services.ts')).presented['sandbox-service'] },
  'sandbox-logs': { load: async () => (await import('./commands/services.ts')).presented['sandbox-logs'] },
  'sandbox-ports': {
    options: [['--open <port>', 'open that port in the browser, by its name or its number inside']],
    load: async () => (await import('./commands/services.ts')).presented['sandbox-ports'],
  },
  'sandbox-clone': { load: async () => (await import('./commands/manage.ts')).presented['sandbox-clone'] },
  'sandbox-list': {
    options: [
      ['--changed', 'only those that differ from their base'],
      ['--wide', 'with the tokens that each has spent'],
    ],
    load: async () => (await import('./commands/list.ts')).presented['sandbox-list'],
  },
  'sandbox-log': {
    options: [['-p, --patch', 'with the diff of each']],
    load: async () => (await import('./reviewing/review.ts')).presented['sandbox-log'],
  },
  'sandbox-diff': {
    options: [
      ['--stat', 'files and counts'],
      ['--name-only', 'paths'],
      ['--raw', 'control characters as they are, on a terminal too'],
    ],
    load: async () => (await import('./reviewing/review.ts')).presented['sandbox-diff'],
  },
  'sandbox-usage': { load: async () => (await import('./inside/cost.ts')).presented['sandbox-usage'] },
  'sandbox-blame': { load: async () => (await import('./reviewing/blame.ts')).presented['sandbox-blame'] },
  'sandbox-trace': { load: async () => (await import('./reviewing/blame.ts')).presented['sandbox-trace'] },
  'sandbox-forecast': { load: async () => (await import('./reviewing/forecast.ts')).presented['sandbox-forecast'] },
  'sandbox-milestone': { load: async () => (await import('./commands/manage.ts')).presented['sandbox-milestone'] },
  'sandbox-apply': {
    options: [
      ['-p, --patch', 'choose change by change, in a terminal'],
      ['--dry-run', 'show what would happen'],
    ],
    load: async () => (await import('./reviewing/review.ts')).presented['sandbox-apply'],
  },
  'sandbox-merge': {
    options: [['--dry-run', 'show what would happen']],
    load: async () => (await import('./reviewing/review.ts')).presented['sandbox-merge'],
  },
  'sandbox-delete': {
    repeated: 'sandbox',
    load: async () => (await import('./commands/manage.ts')).presented['sandbox-delete'],
  },
  'sandbox-pause': { load: async () => (await import('./commands/manage.ts')).presented['sandbox-pause'] },
  'sandbox-resume': { load: async () => (await import('./commands/manage.ts')).presented['sandbox-resume'] },
  'sandbox-restore': { load: async () => (await import('./commands/manage.ts')).presented['sandbox-restore'] },
  'sandbox-undo': { load: async () => (await import('./commands/manage.ts')).presented['sandbox-undo'] },
  'snapshot-create': { load: async () => (await import('./commands/snapshots.ts')).presented['snapshot-create'] },
  'snapshot-list': { load: async () => (await import('./commands/snapshots.ts')).presented['snapshot-list'] },
  'snapshot-restore': { load: async () => (await import('./commands/snapshots.ts')).presented['snapshot-restore'] },
  'snapshot-remove': { load: async () => (await import('./commands/snapshots.ts')).presented['snapshot-remove'] },
  'sandbox-recover': { load: async () => (await import('./commands/manage.ts')).presented['sandbox-recover'] },
  'sandbox-worktree': { load: async () => (await import('./commands/manage.ts')).presented['sandbox-worktree'] },
  'sandbox-explain': { load: async () => (await import('./commands/machine.ts')).presented['sandbox-explain'] },
  'machine-check': { load: async () => (await import('./commands/machine.ts')).presented['machine-check'] },
  'config-trust': {
    options: [
      ['--show', 'show all of it, and ask nothing'],
      ['--yes', 'without asking'],
    ],
    load: async () => (await import('./commands/machine.ts')).presented['config-trust'],
  },
  'secret-list': { load: async () => (await import('./commands/secrets.ts')).presented['secret-list'] },
  'secret-check': { load: async () => (await import('./commands/secrets.ts')).presented['secret-check'] },
  'audit-list': {
    options: [['--verify', 'check the whole chain of hashes']],
    load: async () => (await import('./commands/machine.ts')).presented['audit-list'],
  },
};
