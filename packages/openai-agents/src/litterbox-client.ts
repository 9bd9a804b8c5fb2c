import {
  isNoopSnapshotSpec,
  Manifest,
  normalizeSandboxClientCreateArgs,
  type SandboxClient,
} from '@openai/agents-core/sandbox';
import { type CreateInput, type Litterbox, LitterboxError } from 'litterbox';
import { assertHonourable, filesOf, uploadEntries } from './manifest-files.ts';
import { refused } from './refused.ts';
import { sandboxSession } from './sandbox-session.ts';
import {
  deserializedState,
  type LitterboxSession,
  type LitterboxSessionState,
  serializedState,
  stateOf,
} from './session-state.ts';

type Options = Record<string, unknown> & CreateInput;

/**
 * Sandboxes of a Litterbox for agents of the SDK. A sandbox stays after a run, for a person to review its work: `session.sandbox`, or
 * `litterbox.open(session.state.sandbox)`. With `ephemeral` it goes with its session.
 *
 * @param defaults how sandboxes are made; options of a run come on top
 */
export function litterboxClient(
  litterbox: Litterbox,
  defaults: CreateInput = {},
): SandboxClient<Options, LitterboxSessionState> {
  const create = async (
    ...args: Parameters<typeof normalizeSandboxClientCreateArgs<Options>>
  ): Promise<LitterboxSession> => {
    const { manifest, options, snapshot } = normalizeSandboxClientCreateArgs<Options>(...args);
    if (snapshot && !isNoopSnapshotSpec(snapshot))
      throw refused('a snapshot of the SDK', 'Fork a sandbox, and give the fork as the session.');
    assertHonourable(manifest);
    filesOf(manifest.entries); // refused before anything is made
    const sandbox = await litterbox.create({
      ...(manifest.root !== new Manifest().root && { workdir: manifest.root }),
      ...defaults,
      ...options,
      environment: { ...defaults.environment, ...options?.environment, ...(await manifest.resolveEnvironment()) },
    });
    try {
      await uploadEntries(sandbox.files, manifest.entries);
    } catch (error) {
      await sandbox.delete({ force: true });
      throw error;
    }
    return sandboxSession(sandbox, stateOf(sandbox, manifest));
  };
  return {
    backendId: 'litterbox',
    create,
    serializeSessionState: async (state) => serializedState(state),
    deserializeSessionState: async (state) => deserializedState(state),
    async resume(state) {
      const sandbox = await litterbox.open(state.sandbox);
      if (sandbox.id !== state.id)
        throw new LitterboxError(
          'SANDBOX_NOT_FOUND',
          `The sandbox ${state.sandbox} is another one than that of the session.`,
          {
            operation: 'openai-agents.resume',
            hint: 'Start anew: the sandbox of the session was merged or deleted.',
          },
        );
      return sandboxSession(sandbox, state);
    },
    // Work that nobody took is refused, and stays.
    delete: async ({ sandbox }) => void (await litterbox.delete(sandbox)),
  };
}
