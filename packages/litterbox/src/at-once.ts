import { ListSandboxes, listRuntimes, type RuntimeStatus, type SandboxId, type SandboxSummary } from '@litterbox/core';
import { listNow } from '@litterbox/host';
import { repositoryAtOnce } from '@litterbox/source-control-git/at-once';
import { sqliteState } from '@litterbox/state-sqlite';

export { defaultStateDirectory } from './load-parts.ts';

/** Where is looked. */
export interface AtOnceOptions {
  /** Absolute path. */
  readonly stateDirectory: string;
  /** A directory in the repository. */
  readonly repository: string;
  /** By kind of provider: what it has on this machine, as its files tell it. */
  readonly states: Readonly<Record<string, () => Promise<StatesOf>>>;
}

type StatesOf = (files: { readonly list: typeof listNow }, stateDirectory: string) => AsyncIterable<RuntimeStatus>;

/** The same list needs git, an engine or another machine. */
class NotAtOnce extends Error {}

/**
 * Lists sandboxes by files of this machine alone. It starts no program and wires no use cases, which is most of what a
 * list takes. Nothing is changed.
 *
 * @throws what stands in the way; who lists the usual way hears what it is
 */
export async function listAtOnce(
  scope: 'repository' | 'all',
  { stateDirectory, repository, states }: AtOnceOptions,
): Promise<readonly SandboxSummary[]> {
  const found = scope === 'all' ? undefined : known(repositoryAtOnce(stateDirectory, repository));
  const { state, audit } = sqliteState({ directory: stateDirectory });
  const each = async (key: string) => {
    const statesOf = await known(states[key])();
    const list = () => statesOf({ list: listNow }, stateDirectory);
    return { state: 'answered', value: await listRuntimes({ list }) } as const;
  };
  try {
    return await new ListSandboxes({
      state,
      audit,
      openRepository: {
        async open() {
          const { id, works, forecast } = known(found);
          return {
            id,
            works: async (ids: readonly SandboxId[]) => known(works(ids)),
            forecast: async (ids: readonly SandboxId[]) => known(forecast(ids)),
          };
        },
      },
      askProviders: {
        each: async (keys) =>
          new Map(await Promise.all([...new Set(keys)].map(async (key) => [key, await each(key)] as const))) as never,
        one: () => Promise.reject(new NotAtOnce()),
      },
    }).list(scope);
  } finally {
    await state[Symbol.asyncDispose]();
  }
}

function known<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new NotAtOnce();
  return value;
}
