import {
  type Base,
  LitterboxError,
  failpoint,
  type SandboxHistory,
  type SandboxId,
  type Slug,
} from '@litterbox/core/provider';
import { readHistory, type SandboxMeta, sandboxRefs } from '../store/sandbox-refs.ts';
import { moveJournalled } from '../store/move-journalled.ts';
import type { Store } from '../store/store.ts';
import { writePin } from './base-pin.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** @throws LitterboxError `ALREADY_EXISTS`. */
export async function beginHistory(
  store: Store,
  user: UserRepository,
  sandbox: { readonly id: SandboxId; readonly slug: Slug; readonly base: Base },
  signal: AbortSignal | undefined,
): Promise<SandboxHistory> {
  const { id, slug } = sandbox;
  const { commit, tree, headRef } = sandbox.base;
  const base = { commit, tree, ...(headRef !== undefined && { headRef }) };
  const refs = sandboxRefs(id);
  const { synthetic, parents } = await store.reader.commit(base.commit);
  const pin = synthetic ? (parents[0] ?? base.commit) : base.commit;
  const meta: SandboxMeta = { version: 1, slug, base, createdAtMs: Date.now(), synthetic };
  using sink = store.sink();
  const metaOid = sink.put('blob', Buffer.from(JSON.stringify(meta)));
  assertNew(store, id);
  // The pin first: from here on the user's own garbage collection keeps the base. Nobody waits for the disk: the pin is this sandbox's own.
  await writePin(user, id, pin, { signal });
  failpoint('begin.after-user-pin');
  await store.lock.hold(
    'sandbox.begin',
    async () => {
      assertNew(store, id);
      const begun = [
        [refs.pin, pin],
        [refs.base, base.commit],
        [refs.tip, base.commit],
        [refs.meta, metaOid],
      ] as const;
      const moves = begun.map(([name, value]) => ({ name, old: store.refs.read(name), value }));
      await moveJournalled(store, sink, { refs: moves, objects: sink.journalled ?? [] });
    },
    { signal },
  );
  failpoint('begin.after-meta');
  return readHistory(store, id);
}

function assertNew(store: Store, id: SandboxId): void {
  if (store.refs.read(sandboxRefs(id).meta) === undefined) return;
  throw new LitterboxError('ALREADY_EXISTS', `Sandbox ${id} has a history already.`, { operation: 'sandbox.begin' });
}
