import { LitterboxError, failpoint, type SandboxHistory, type SandboxId, type Slug } from '@litterbox/core/provider';
import { moveReviewBranch, requireReviewBranch } from './cut-milestone.ts';
import { readHistory, readMeta, readMilestones, sandboxRefs } from '../store/sandbox-refs.ts';
import { writePin } from '../record/base-pin.ts';
import { settleJournal } from '../store/settle-journal.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

const OPERATION = 'sandbox.fork';

/**
 * Begins a history where another one is: the same commits under refs of its own, so nothing is copied. Milestones are on a review branch
 * of its own too. The meta ref comes last: without it there is no sandbox.
 *
 * @throws LitterboxError `NOT_FOUND`, `ALREADY_EXISTS`, `CONFLICT` when the review branch is somebody's.
 */
export async function forkHistory(
  store: Store,
  user: UserRepository,
  source: SandboxId,
  { id, slug }: { readonly id: SandboxId; readonly slug: Slug },
  signal: AbortSignal | undefined,
): Promise<SandboxHistory> {
  const [from, to] = [sandboxRefs(source), sandboxRefs(id)];
  return store.userLock.hold(
    OPERATION,
    async () => {
      const begun = await readMeta(store, source);
      const meta = { ...begun, slug, createdAtMs: Date.now(), family: begun.family ?? source };
      const milestones = await readMilestones(store, source);
      if (milestones.length > 0) await requireReviewBranch(user, slug, milestones, signal);
      const metaOid = await store.put((sink) => sink.put('blob', Buffer.from(JSON.stringify(meta))));
      await settleJournal(store, signal); // objects of the source must not be in it alone
      await store.lock.hold(
        OPERATION,
        async () => {
          if (store.refs.read(to.meta) !== undefined) {
            throw new LitterboxError('ALREADY_EXISTS', `Sandbox ${id} has a history already.`, {
              operation: OPERATION,
            });
          }
          // The pin first: from here on the user's own garbage collection keeps the base.
          const pin = store.refs.read(from.pin);
          if (pin !== undefined) await writePin(user, id, pin, { signal });
          failpoint('fork.after-user-pin');
          for (const name of ['pin', 'base', 'tip', 'rules', 'taken'] as const) {
            const value = store.refs.read(from[name]);
            if (value !== undefined) await store.refs.write(to[name], value);
          }
          for (const { number, commit } of milestones) await store.refs.write(`${to.milestones}/${number}`, commit);
          failpoint('fork.before-meta');
          await store.refs.write(to.meta, metaOid, 'absent');
        },
        { signal },
      );
      failpoint('fork.after-meta');
      await moveReviewBranch(store, user, id, slug);
      return readHistory(store, id);
    },
    { signal },
  );
}
