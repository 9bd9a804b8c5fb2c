import { describe, expect, it } from '@jest/globals';
import { describeSourceControl, failureOf } from '@litterbox/conformance';
import { type SandboxId, type SourceControl, type SourceRepository } from '@litterbox/core/provider';
import { kitBackend } from './kit-backend.ts';

/** A repository of which some members are broken. */
function repositoryWith(change: (inner: SourceRepository) => Partial<SourceRepository>): () => Promise<SourceControl> {
  return async () => {
    const control = await kitBackend.open();
    return forwarded(control, {
      open: async (...args) => {
        const inner = await control.open(...args);
        return forwarded(inner, change(inner));
      },
    });
  };
}

function forwarded<Port extends object>(inner: Port, change: Partial<Port>): Port {
  return new Proxy(inner, {
    get(target, name) {
      if (Object.hasOwn(change, name)) return change[name as keyof Port];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** A source control of which some members are broken. */
function controlWith(change: (inner: SourceControl) => Partial<SourceControl>): () => Promise<SourceControl> {
  return async () => {
    const control = await kitBackend.open();
    return forwarded(control, change(control));
  };
}

/** What is broken, and the title of the test that one would expect to catch it. */
const BROKEN: readonly (readonly [what: string, open: () => Promise<SourceControl>, caughtBy: string])[] = [
  [
    'puts files over those of a person',
    controlWith((inner) => ({
      openOwn: async (options) => {
        const own = await inner.openOwn?.(options);
        if (!own) throw new Error('there is none');
        return forwarded(own, { base: async () => await own.base({ type: 'head' }) });
      },
    })),
    "files are a base of their own in a repository that is nobody's, the same for every program",
  ],
  [
    'begins a history anew',
    repositoryWith((inner) => ({
      begin: async (sandbox) => await inner.begin(sandbox).catch(() => inner.history(sandbox.id)),
    })),
    'a history begins once per id; one that nobody began is NOT_FOUND',
  ],
  [
    'forks from the base alone',
    repositoryWith((inner) => ({
      fork: async (source, sandbox) => await inner.begin({ ...sandbox, base: (await inner.history(source)).base }),
    })),
    'a fork begins where its source is, and from there on each goes by itself',
  ],
  [
    'removes forks with their source',
    repositoryWith((inner) => {
      const forks = new Map<string, SandboxId>();
      return {
        fork: async (source, sandbox) => (forks.set(source, sandbox.id), await inner.fork(source, sandbox)),
        remove: async (id) => {
          const fork = forks.get(id);
          if (fork) await inner.remove(fork);
          await inner.remove(id);
        },
      };
    }),
    'a fork or its source can be removed, and the other one is whole',
  ],
  [
    'forks over a history that is there',
    repositoryWith((inner) => ({
      fork: async (source, sandbox) => await inner.fork(source, sandbox).catch(() => inner.history(sandbox.id)),
    })),
    'a fork of a merged source is merged; one id has one history, and a source that nobody began is NOT_FOUND',
  ],
  [
    'tells work since the last milestone alone',
    repositoryWith((inner) => ({
      works: async (ids) => {
        const works = await inner.works(ids);
        return new Map([...works].map(([id, work]) => [id, { ...work, revisions: work.unmilestoned }]));
      },
    })),
    'work is told in numbers, against the base',
  ],
  [
    'tells the work of one sandbox for that of another',
    repositoryWith((inner) => ({
      works: async (ids) => {
        const works = await inner.works(ids);
        const [first] = works.values();
        return first === undefined ? works : new Map([...works.keys()].map((id) => [id, first]));
      },
    })),
    'work is told in numbers, against the base',
  ],
  [
    'keeps all that was ever printed',
    repositoryWith((inner) => ({
      keepPrinted: async (id, content) => await inner.keepPrinted(id, { ...content, mostBytes: Infinity }),
    })),
    'what commands printed is found by its digest, takes room once, and goes with the oldest first',
  ],
  [
    'has what was printed in memory alone',
    repositoryWith(() => {
      const printed = new Map<string, Uint8Array>();
      return {
        keepPrinted: async (_id, { digest, bytes }) => void printed.set(digest, bytes),
        printed: async (_id, digest) => printed.get(digest),
      };
    }),
    'what commands printed is found by its digest, takes room once, and goes with the oldest first',
  ],
  [
    'forecasts conflicts with HEAD alone',
    repositoryWith((inner) => ({
      forecast: async (ids) => {
        const { conflicts, untried } = await inner.forecast(ids);
        return { conflicts: conflicts.filter(({ other }) => other === undefined), untried };
      },
    })),
    'a forecast names conflicts with HEAD and between sandboxes, and changes nothing',
  ],
  [
    'forecasts for whatever was once recorded, merged or not',
    repositoryWith((inner) => {
      let first: ReturnType<SourceRepository['forecast']> | undefined;
      return { forecast: async (ids) => await (first ??= inner.forecast(ids)) };
    }),
    'a forecast names conflicts with HEAD and between sandboxes, and changes nothing',
  ],
  [
    'blames the tip for whatever revision is asked for',
    repositoryWith((inner) => ({ blame: async (id, path) => await inner.blame(id, path) })),
    'the lines of a file lead to the revisions that wrote them',
  ],
  [
    'reads files as they are last, whatever revision is asked for',
    repositoryWith((inner) => ({
      content: async (id, path, options) =>
        await inner.content(id, path, { ...options, at: (await inner.history(id)).tip.commit }),
    })),
    'a file is what it was in a revision and in the base, up to a bound',
  ],
  [
    'reads files of any size',
    repositoryWith((inner) => ({
      content: async (id, path, options) => await inner.content(id, path, { ...options, maxBytes: 2 ** 30 }),
    })),
    'a file is what it was in a revision and in the base, up to a bound',
  ],
  [
    'takes a file that is not there for an empty one',
    repositoryWith((inner) => ({ blame: async (...args) => await inner.blame(...args).catch(() => []) })),
    'the lines of a file lead to the revisions that wrote them',
  ],
  [
    'takes the work tree for HEAD',
    repositoryWith((inner) => ({
      base: (source) => inner.base(source.type === 'head' ? { type: 'worktree' } : source),
    })),
    'bases: a ref is a commit by name, the work tree is its files, and anything else is refused',
  ],
  [
    'takes files that are others in the work tree for the same',
    repositoryWith(() => ({ workTimes: async () => new Map() })),
    'files of a tree that are others in the work tree have no time there',
  ],
  [
    'takes what looks like a secret for any other file',
    repositoryWith((inner) => ({
      base: (source) => inner.base(source.type === 'worktree' ? { ...source, named: ['notes', 'dir/a'] } : source),
    })),
    'the work tree as a base is without what looks like a secret, and says what',
  ],
  [
    'takes an agent for a person',
    async () => {
      const control = await kitBackend.open();
      return forwarded(control, { open: (path) => control.open(path) });
    },
    "an agent finds what a branch holds and nothing else; what only a review branch holds is not the person's",
  ],
  [
    'takes everything for the work of the person',
    repositoryWith((inner) => ({ base: async (...args) => ({ ...(await inner.base(...args)), isPersons: true }) })),
    "an agent finds what a branch holds and nothing else; what only a review branch holds is not the person's",
  ],
  [
    'gives the whole tree whatever is asked for',
    repositoryWith((inner) => ({ tree: (tree) => inner.tree(tree) })),
    'a tree can be asked for some of its files, and they come as they are',
  ],
  [
    'knows one diff alone',
    repositoryWith((inner) => ({ diff: (id) => inner.diff(id) })),
    'a diff is what git prints: of all, of one revision, of some paths, against another',
  ],
  [
    'takes bytes for text',
    repositoryWith((inner) => ({
      changes: async (...args) =>
        (await inner.changes(...args)).map((change) => ({ ...change, binary: false, addedLines: 1, removedLines: 0 })),
    })),
    'changes are told with status, lines, mode and kind',
  ],
  [
    'logs everything',
    repositoryWith((inner) => ({ log: (id) => inner.log(id) })),
    'the log is newest first, as long as asked for, with words, trailers and milestones',
  ],
  [
    'records what it got of a stream that broke',
    repositoryWith((inner) => ({
      record: async (id, request, call) =>
        await inner.record(id, request, call).catch(() => ({
          changedFiles: 0,
          warnings: [],
          moreWarnings: 0,
        })),
    })),
    'a record that fails or is aborted half-way leaves the tip, and the next one is whole',
  ],
  [
    'is quiet about rules that change',
    repositoryWith((inner) => ({
      record: async (...args) => {
        const { ignoreRulesChanged: _quiet, ...result } = await inner.record(...args);
        return result;
      },
    })),
    'a rule of what is ignored that changes is told; a nested repository is files',
  ],
  [
    'records what holds a secret',
    repositoryWith((inner) => ({
      record: async (id, { secrets: _secrets, ...request }, options) => await inner.record(id, request, options),
    })),
    'a file, a link and a name that hold a secret are left out and named, and what was there stays',
  ],
  [
    'plans without looking at the person',
    repositoryWith((inner) => ({
      plan: async (...args) => ({ ...(await inner.plan(...args)), dirtyOverlap: [], risky: [] }),
    })),
    'a plan names conflicts, edits in the way and what runs code, and changes nothing',
  ],
  [
    'plans again behind the caller',
    repositoryWith((inner) => ({
      execute: async (plan, options) =>
        await inner.execute(await inner.plan(plan.sandbox, { integration: plan.integration, arguments: [] }), options),
    })),
    'a conflict is left to the person; a HEAD that moved is HEAD_MOVED',
  ],
  [
    'never sees a change of the work tree',
    repositoryWith(() => ({ drift: async () => ({ total: 0, paths: [], gone: [] }) })),
    'how the work tree differs from a tree is told by contents, and nothing in it changes',
  ],
  [
    'does not tell what is gone from the work tree',
    repositoryWith((inner) => ({ drift: async (...args) => ({ ...(await inner.drift(...args)), gone: [] }) })),
    'how the work tree differs from a tree is told by contents, and nothing in it changes',
  ],
  [
    'takes every change since HEAD for one',
    repositoryWith((inner) => ({
      drift: async () => ({ ...(await inner.leftOut(100)), gone: [] }),
    })),
    'how the work tree differs from a tree is told by contents, and nothing in it changes',
  ],
  [
    'says that everything is merged',
    repositoryWith(() => ({ isMerged: async () => true })),
    'what was merged needs no second merge, and what was applied and committed is merged',
  ],
];

describe('the kit catches broken source controls', () => {
  for (const [what, open, caughtBy] of BROKEN) {
    it(`one that ${what}`, async () => {
      const failure = await failureOf(
        (runner) => describeSourceControl({ ...kitBackend, name: what, runner, open }),
        caughtBy,
      );
      expect(failure).toBeDefined();
      expect(failure?.name).not.toBe('TypeError'); // that would be a broken adapter of this file, not one that was caught
    });
  }
});
