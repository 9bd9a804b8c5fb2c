import { ALWAYS_LEAN, LitterboxError } from '@litterbox/core';
import {
  type CommandScript,
  memoryAudit,
  memoryEndpoints,
  memoryForwarder,
  memoryGate,
  memoryGauge,
  memoryHost,
  memoryKeepers,
  memoryProvider,
  memorySecrets,
  memorySourceControl,
  memoryState,
  realClock,
  RepositoryShelf,
  SandboxShelf,
  StateShelf,
} from '@litterbox/memory';
import { createLitterbox, type Litterbox } from '../create-litterbox.ts';
import type { LitterboxOptions, LitterboxParts } from '../litterbox-options.ts';
import { type MemoryRepository, memoryRepository, rawText } from './memory-repository.ts';

/** How a Litterbox in memory begins. */
export interface MemoryLitterboxOptions extends Pick<LitterboxOptions, 'actor' | 'approver' | 'environment'> {
  /** `false`: there is none, and sandboxes begin with the `files` of `create`. @defaultValue one */
  readonly repo?: false;
  /** The files of the repository's one commit, by their paths. @defaultValue none */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /**
   * Runs the commands of sandboxes. Without it, and where it gives no answer, a small shell in memory does. What it throws is the exit code 1
   * of the command, and disposing of the Litterbox rejects with it.
   */
  readonly run?: CommandScript;
}

/** A Litterbox whose repository can be looked into. */
export interface MemoryLitterbox extends Litterbox {
  /** The person's repository, into which work is applied and merged. */
  readonly repository: MemoryRepository;
}

/**
 * A Litterbox in memory, for tests of programs that use one. It needs no root, no git, no network and no directory, and leaves nothing.
 * Nothing is isolated there, for nothing runs: commands are answered by `run` or by a shell in memory.
 */
export function memoryLitterbox({ files = {}, repo, run, ...options }: MemoryLitterboxOptions = {}): MemoryLitterbox {
  if (repo === false && Object.keys(files).length > 0)
    throw new LitterboxError('INVALID_ARGUMENT', 'Without a repository there is none for the option files.', {
      operation: 'litterbox.create',
      hint: 'Give them to create({ files }).',
    });
  const repositories = new RepositoryShelf();
  const records = new StateShelf();
  const person = repositories.add(
    Object.entries(files).map(([path, content]) => ({ path, content: rawText(content) })),
    '/home/person/project',
  );
  const failures: unknown[] = [];
  const litterbox = createLitterbox({
    ...options,
    repo: repo ?? person.root,
    stateDirectory: '/memory',
    providers: [
      memoryProvider({
        shelf: new SandboxShelf(),
        clock: realClock,
        ...(run && { script: run }),
        onScriptFailure: (error) => failures.push(error),
      }),
    ],
    parts: partsInMemory(repositories, records),
  });
  return {
    ...litterbox,
    repository: memoryRepository(person),
    async [Symbol.asyncDispose]() {
      await litterbox[Symbol.asyncDispose]();
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Every part but the hosts, which are this one. */
function partsInMemory(repositories: RepositoryShelf, records: StateShelf): Omit<LitterboxParts, 'hosts'> {
  const owner = { isAlive: true };
  return {
    host: memoryHost(repositories),
    hostGauge: memoryGauge(),
    sourceControl: memorySourceControl(repositories, realClock),
    state: memoryState(records, realClock, owner),
    audit: memoryAudit(records, realClock, owner),
    clock: realClock,
    heap: ALWAYS_LEAN,
    forwarder: memoryForwarder(),
    keepers: memoryKeepers(),
    networkGate: memoryGate(),
    endpointGate: memoryEndpoints(),
    secretSource: memorySecrets(),
    directorySync: {
      sync: () =>
        Promise.reject(new LitterboxError('UNSUPPORTED', 'There is one machine in memory.', { operation: 'sync' })),
    },
  };
}
