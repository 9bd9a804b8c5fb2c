import { isLitterboxError, type Sandbox } from 'litterbox';

/** Stops a sandbox; an ephemeral one is gone then. One that is gone already is nothing to stop. */
export async function stopSandbox(sandbox: Sandbox): Promise<void> {
  await unlessGone(async () => {
    if (!sandbox.record.isEphemeral) await sandbox.setRunState('stopped');
  });
  await sandbox[Symbol.asyncDispose]();
}

/** Deletes a sandbox. @param keepsWork one with work that nobody took is stopped, and stays for a person to review */
export async function giveUp(sandbox: Sandbox, keepsWork: boolean): Promise<void> {
  try {
    await unlessGone(async () => await sandbox.delete({ force: !keepsWork || sandbox.record.isEphemeral === true }));
  } catch (error) {
    if (!isLitterboxError(error, 'UNMERGED_WORK')) throw error;
    await sandbox.setRunState('stopped');
  }
  await sandbox[Symbol.asyncDispose]();
}

async function unlessGone(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isLitterboxError(error, 'SANDBOX_NOT_FOUND')) throw error;
  }
}
