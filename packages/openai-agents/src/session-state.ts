import { Manifest, type SandboxSession, type SandboxSessionState } from '@openai/agents-core/sandbox';
import { deserializeManifest, serializeManifestRecord } from '@openai/agents-core/sandbox/internal';
import { LitterboxError, type Sandbox } from 'litterbox';

/** The state of a session: enough to find its sandbox again. */
export interface LitterboxSessionState extends SandboxSessionState {
  /** The name of the sandbox. */
  readonly sandbox: string;
  /** Another sandbox may have its name later. */
  readonly id: string;
}

/** A session of the SDK, with the sandbox that is behind it. */
export type LitterboxSession = SandboxSession<LitterboxSessionState> & { readonly sandbox: Sandbox };

/** The manifest of a session, at the directory where its workspace is. */
export const stateOf = (sandbox: Sandbox, manifest: Manifest): LitterboxSessionState => ({
  manifest: new Manifest({
    version: manifest.version,
    root: sandbox.record.workdir,
    entries: manifest.entries,
    environment: manifest.environment,
  }),
  workspaceReady: true,
  sandbox: sandbox.name,
  id: sandbox.id,
});

/** Plain JSON. Values of variables are in the sandbox and not in it. */
export function serializedState({ manifest, sandbox, id }: LitterboxSessionState): Record<string, unknown> {
  const { environment: _values, ...kept } = serializeManifestRecord(manifest);
  return { manifest: kept, sandbox, id };
}

/** @throws LitterboxError `INVALID_ARGUMENT` for what no session of ours wrote */
export function deserializedState(state: Record<string, unknown>): LitterboxSessionState {
  const { manifest, sandbox, id } = state;
  if (typeof sandbox !== 'string' || typeof id !== 'string' || typeof manifest !== 'object' || manifest === null)
    throw new LitterboxError('INVALID_ARGUMENT', 'The state is not that of a session of Litterbox.', {
      operation: 'openai-agents.resume',
      hint: 'Give what serializeSessionState of this client gave.',
    });
  return { manifest: deserializeManifest(manifest as Record<string, unknown>), workspaceReady: true, sandbox, id };
}
