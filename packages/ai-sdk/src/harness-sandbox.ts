import type { HarnessV1NetworkSandboxSession, HarnessV1SandboxProvider } from '@ai-sdk/harness';
import { type CreateInput, type Litterbox, LitterboxError, type Sandbox } from 'litterbox';
import { callOf } from './call-of.ts';
import { giveUp, stopSandbox } from './give-up.ts';
import { sessionAt } from './sandbox-session.ts';
import { sessionName } from './session-name.ts';

/** How sandboxes for agents of a harness are made. Everything that `create` takes, and these. */
export interface HarnessSandboxOptions extends Omit<CreateInput, 'name'> {
  /** Ports inside on which an agent of the harness listens for its program, unless it chooses another. @defaultValue 4000 */
  readonly ports?: readonly number[];
  /** A session that is destroyed leaves its sandbox, stopped, where nobody took its work. @defaultValue true */
  readonly keepsWork?: boolean;
}

/** Where a harness begins. What it keeps there for itself is no work, and not recorded. */
const PLAYGROUND = '/playground';

/**
 * Sandboxes of a Litterbox for agents of the AI SDK's harness: the agent itself runs inside. Give the agent `sandboxConfig: { workDir:
 * 'project' }`: that is the workspace, where its changes are recorded.
 *
 * The sandbox of a session is `session-ID`, so that another process finds it again. One that is made without a session's id goes when it
 * is stopped. The way out is the sandbox's own (`network`, endpoints with keys): the harness changes nothing of it.
 */
export function harnessSandbox(litterbox: Litterbox, options: HarnessSandboxOptions = {}): HarnessV1SandboxProvider {
  const { ports = [4000], keepsWork = true, ...input } = options;
  return {
    specificationVersion: 'harness-sandbox-v1',
    providerId: 'litterbox',

    async createSession({ sessionId, abortSignal, onFirstCreate } = {}) {
      const how = sessionId === undefined ? { ephemeral: true } : { name: await sessionName(sessionId) };
      const sandbox = await litterbox.create({ ...input, ...how }, callOf(abortSignal));
      try {
        await sandbox.run(['ln', '-sfn', sandbox.record.workdir, `${PLAYGROUND}/project`]);
        const session = await networkSession(sandbox, ports, keepsWork);
        await onFirstCreate?.(session.restricted(), abortSignal ? { abortSignal } : {});
        return session;
      } catch (error) {
        await giveUp(sandbox, false);
        throw error;
      }
    },

    async resumeSession({ sessionId, abortSignal }) {
      const sandbox = await litterbox.open(await sessionName(sessionId), callOf(abortSignal));
      await sandbox.setRunState('ready', callOf(abortSignal));
      return await networkSession(await sandbox.refresh(), ports, keepsWork);
    },
  };
}

async function networkSession(
  sandbox: Sandbox,
  ports: readonly number[],
  keepsWork: boolean,
): Promise<HarnessV1NetworkSandboxSession> {
  const session = await sessionAt(sandbox, PLAYGROUND);
  const urlOf = async (port: number, protocol: 'http' | 'https' | 'ws' = 'http') => {
    if (protocol === 'https')
      throw new LitterboxError('UNSUPPORTED', `Port ${port} of ${sandbox.name} has no https address.`, {
        operation: 'ai-sdk.port',
        hint: 'Ask for http or ws: the address is one of this machine alone.',
      });
    return (await sandbox.url(port)).replace(/^http/, protocol).replace(/\/$/, '');
  };
  return {
    ...session,
    id: sandbox.name,
    defaultWorkingDirectory: PLAYGROUND,
    ports,
    getPortEndpoint: async ({ port, protocol }) => ({ url: await urlOf(port, protocol) }),
    getPortUrl: async ({ port, protocol }) => await urlOf(port, protocol),
    stop: async () => await stopSandbox(sandbox),
    destroy: async () => await giveUp(sandbox, keepsWork),
    restricted: () => session,
  };
}
