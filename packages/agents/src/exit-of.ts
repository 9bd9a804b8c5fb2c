import type { AttachedProcess } from 'litterbox';

/** After a program's end its last output is waited for so long: what it left in the background may hold the pipe for ever. */
const LAST_OUTPUT_MS = 250;

/** How a program ended, once its output is over or has had its time. @param output resolves when all of it was passed on */
export async function exitOf(
  { exit }: AttachedProcess['process'],
  output: Promise<void>,
): Promise<Awaited<AttachedProcess['process']['exit']>> {
  const ended = await exit;
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_OUTPUT_MS);
  });
  try {
    await Promise.race([output, patience]);
    return ended;
  } finally {
    clearTimeout(timer);
  }
}
