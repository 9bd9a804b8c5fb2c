import type { Experimental_SandboxSession } from 'ai';
import type { Sandbox } from 'litterbox';
import { callOf } from './call-of.ts';
import { filesAt } from './files-at.ts';
import { processOf } from './process-of.ts';
import { runOutput } from './run-output.ts';
import { sessionFiles } from './session-files.ts';

/**
 * A sandbox as the AI SDK takes one (`experimental_sandbox`). Relative paths start at the workspace. The sandbox stays the caller's: review
 * its work with `diff`, take it with `merge`, delete it in the end.
 *
 * Changes of tools are recorded, a revision for each call. Commands end at the sandbox's time limit, two minutes unless configured.
 */
export async function sandboxSession(sandbox: Sandbox): Promise<Experimental_SandboxSession> {
  return await sessionAt(sandbox, sandbox.record.workdir);
}

/** The same, with relative paths and commands that start at a directory of the sandbox. @param directory absolute inside */
export async function sessionAt(sandbox: Sandbox, directory: string): Promise<Experimental_SandboxSession> {
  const placeOf = (cwd = '.', env: Readonly<Record<string, string>> | undefined) => ({
    cwd: cwd.startsWith('/') ? cwd : `${directory}/${cwd}`,
    ...(env && { env }),
  });
  return {
    description: await sandbox.describe(),
    ...sessionFiles(filesAt(sandbox.files, directory)),

    async run({ command, workingDirectory, env, abortSignal }) {
      return runOutput(await sandbox.run(command, { ...placeOf(workingDirectory, env), ...callOf(abortSignal) }));
    },

    // The type of the SDK is an overload by `stdin`, which no arrow function has.
    spawn: (async ({ command, workingDirectory, env, abortSignal, stdin = false }) =>
      processOf(
        await sandbox.spawn(command, {
          ...placeOf(workingDirectory, env),
          ...callOf(abortSignal),
          stdin: stdin ? 'pipe' : 'none',
        }),
        stdin,
      )) as Experimental_SandboxSession['spawn'],
  };
}
