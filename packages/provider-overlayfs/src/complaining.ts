import type { ScriptResult } from '@litterbox/linux-sandbox';

/** How the session program ended: it tells of a failure of its own by its stdout. */
export async function complaining(running: Promise<ScriptResult>): Promise<Pick<ScriptResult, 'code' | 'stderr'>> {
  const { code, stdout, stderr } = await running;
  return { code, stderr: stderr === '' ? stdout.replace(/^error |\0$/g, '') : stderr };
}
