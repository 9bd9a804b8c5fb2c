import {
  type Asker,
  type Operation,
  type OperationOptions,
  ForwardPorts,
  KeepSandbox,
  OpenRepository,
  OpenSandboxes,
  parseInput,
  type Providers,
  type UseCases,
  type UseCaseTable,
} from '@litterbox/core/agent';
import { assertNode } from './assert-node.ts';
import { assertOptions } from './assert-options.ts';
import { closeAll } from './close-all.ts';
import type { LitterboxOptions, LitterboxParts } from './litterbox-options.ts';
import { loadFirstParts, loadParts, type LoadSourceControl } from './load-parts.ts';
import { openProviders } from './open-providers.ts';

/** Carries out operations: all that an adapter needs. {@link createLitterbox} is the same with a method for each. */
export interface Performer extends AsyncDisposable {
  /** Checks the input as that of every door is checked, then does it. */
  perform<Input extends Operation['input'], Result>(
    operation: Operation<Input, Result>,
    input: Input['_zod']['input'],
    options?: OperationOptions,
  ): Promise<Result>;
}

/** A performer and what it is wired from, for the façade. */
export interface WiredPerformer extends Performer {
  wired(): Promise<Wired>;
}

/** The parts of an instance, wired. */
export interface Wired {
  readonly useCases: UseCases;
  readonly parts: LitterboxParts;
  readonly providers: Providers;
}

/** What a program may reach, loaded by the first call. People and agents come in by different ones. */
export interface Entrypoint {
  readonly asker: Asker;
  useCases(): Promise<UseCaseTable>;
  readonly sourceControl: LoadSourceControl;
}

/**
 * Synchronous and free of I/O: parts are loaded and opened by the first call that needs them.
 *
 * @throws LitterboxError `ARG_MISSING`, `ARG_TYPE`, `ARG_UNKNOWN` for options that are none
 */
export function createPerformer(options: LitterboxOptions, doors: Entrypoint): WiredPerformer {
  assertNode(process.versions.node);
  assertOptions(options);
  let wiring: Promise<Wired> | undefined;
  const wired = (): Promise<Wired> => {
    wiring ??= wire(options, doors).catch((error: unknown) => {
      wiring = undefined; // nothing was opened; the next call tries again
      throw error;
    });
    return wiring;
  };
  return {
    wired,
    async perform(operation, input, call) {
      const parsed = parseInput(operation, input);
      return await operation.execute((await wired()).useCases, parsed, call);
    },
    async [Symbol.asyncDispose]() {
      const opened = await wiring?.catch(() => undefined); // a caller has heard of the failure
      if (!opened) return;
      const { useCases, parts, providers } = opened;
      await closeAll([
        () => useCases.get(KeepSandbox).closeAll(),
        () => useCases.get(ForwardPorts).closeAll(),
        () => useCases.get(OpenSandboxes).closeAll(),
        () => providers[Symbol.asyncDispose](),
        () => useCases.get(OpenRepository).close(),
        () => parts.sourceControl[Symbol.asyncDispose](),
        () => parts.state[Symbol.asyncDispose](),
        () => parts.host[Symbol.asyncDispose](),
      ]);
    },
  };
}

async function wire(options: LitterboxOptions, doors: Entrypoint): Promise<Wired> {
  const first = await loadFirstParts(options, doors.sourceControl);
  const [parts, { compose }, table] = await Promise.all([
    loadParts(options, first),
    import('./composition-root.ts'),
    doors.useCases(),
  ]);
  const { hosts, clock } = parts;
  const { repositoryPath } = first;
  const providers = await openProviders({ sources: options.providers, hosts, clock });
  const ports = {
    ...parts,
    providers,
    approver: options.approver ?? { approve: async () => false },
    repositoryPath,
    actor: options.actor ?? 'library',
    asker: doors.asker,
    environment: options.environment ?? {},
  };
  return { useCases: compose(ports, table), parts, providers };
}
