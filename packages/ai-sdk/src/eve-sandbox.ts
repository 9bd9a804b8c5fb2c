import { posix } from 'node:path';
import type { Experimental_SandboxSession } from 'ai';
import { type CreateInput, isLitterboxError, type Litterbox, LitterboxError, type Sandbox } from 'litterbox';
import { callOf } from './call-of.ts';
import type { EveHandle, EveImplementation, EveResourceTree, EveSandboxSession } from './eve-types.ts';
import { giveUp, stopSandbox } from './give-up.ts';
import { sandboxSession } from './sandbox-session.ts';

/** Where Eve has its one workspace. */
const WORKSPACE = '/workspace';

/** How sandboxes for agents of Eve are made. Everything that `create` takes, and these. */
export interface EveSandboxOptions extends Omit<CreateInput, 'name' | 'workdir' | 'ephemeral'> {
  /** Done once, in the sandbox that those of all sessions are forks of. */
  readonly prepare?: (sandbox: EveSandboxSession) => Promise<void>;
  /** A session that ends leaves its sandbox, stopped, where nobody took its work. @defaultValue false: it is deleted */
  readonly keepsWork?: boolean;
}

/** Enough to find a sandbox again. Another one may have its name later. */
export interface EveSandboxState {
  readonly [key: string]: string;
  readonly sandbox: string;
  readonly id: string;
}

/**
 * Sandboxes of a Litterbox for Eve's `defineSandboxProvider`. `prepare` makes one with the agent's files; that of each session is a fork of
 * it, which costs what copy-on-write does.
 */
export function eveSandbox(litterbox: Litterbox): {
  readonly name: 'litterbox';
  environment(options?: EveSandboxOptions): EveImplementation<EveSandboxState>;
} {
  return {
    name: 'litterbox',
    environment: ({ prepare, keepsWork = false, ...input } = {}) => ({
      async prepare({ resources: { workspace, skills } }) {
        const environment = { AI_AGENT: 'eve', ...input.environment };
        const sandbox = await litterbox.create({ ...input, environment, workdir: WORKSPACE });
        try {
          await upload(sandbox, workspace);
          await upload(sandbox, skills);
          await prepare?.(await eveSession(sandbox));
          await stopSandbox(sandbox);
          return stateOf(sandbox);
        } catch (error) {
          await giveUp(sandbox, false);
          throw error;
        }
      },

      async start(_context, _options, artifact) {
        await using base = await opened(litterbox, artifact);
        const sandbox = await base.fork();
        return { handle: await handleOf(sandbox), state: stateOf(sandbox) };
      },

      async resume(_context, _artifact, state) {
        const sandbox = await opened(litterbox, state);
        await sandbox.setRunState('ready');
        return await handleOf(await sandbox.refresh());
      },

      async onSessionEnd(_context, _artifact, state) {
        try {
          await giveUp(await opened(litterbox, state), keepsWork);
        } catch (error) {
          if (!isLitterboxError(error, 'SANDBOX_NOT_FOUND')) throw error; // the step may be repeated
        }
      },
    }),
  };
}

const stateOf = ({ name, id }: Sandbox): EveSandboxState => ({ sandbox: name, id });

async function opened(litterbox: Litterbox, { sandbox: name, id }: Readonly<EveSandboxState>): Promise<Sandbox> {
  const sandbox = await litterbox.open(name);
  if (sandbox.id === id) return sandbox;
  throw new LitterboxError('SANDBOX_NOT_FOUND', `The sandbox ${name} is another one than that of the session.`, {
    operation: 'ai-sdk.eve',
    hint: 'Prepare the environment again by eve build: its sandbox was deleted.',
  });
}

async function upload(sandbox: Sandbox, tree: EveResourceTree | undefined): Promise<void> {
  if (!tree || tree.files.length === 0) return;
  const { stdout: home } = await sandbox.run('printf %s "$HOME"');
  const target = tree.targetPath.replace(/^\$HOME(?=\/)/, home);
  const files = tree.files.map(({ relativePath, content }) => [`${target}/${relativePath}`, content] as const);
  await sandbox.files.upload(Object.fromEntries(files), { message: 'The files of the agent' });
}

async function handleOf(sandbox: Sandbox): Promise<EveHandle> {
  return {
    sandbox: await eveSession(sandbox),
    onSandboxStop: async () => await stopSandbox(sandbox),
    onRuntimeShutdown: async () => await sandbox[Symbol.asyncDispose](),
    onSandboxDelete: async () => await giveUp(sandbox, false), // the agent's author asked for it
  };
}

async function eveSession(sandbox: Sandbox): Promise<EveSandboxSession> {
  const session: Experimental_SandboxSession = await sandboxSession(sandbox);
  return {
    ...session,
    resolvePath: (path) => posix.resolve(WORKSPACE, path),
    async removePath({ path, recursive = false, force = false, abortSignal }) {
      try {
        await sandbox.files.remove(path, { recursive, ...callOf(abortSignal) });
      } catch (error) {
        if (!force || !isLitterboxError(error, 'NOT_FOUND')) throw error;
      }
    },
  };
}
