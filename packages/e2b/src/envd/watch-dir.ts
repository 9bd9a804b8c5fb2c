import { LitterboxError } from 'litterbox';
import * as z from 'zod';
import { failureOf } from '../door/failure.ts';
import { parseJson } from '../door/parse-json.ts';
import { insidePath } from './inside-path.ts';
import type { StreamCall } from './process-service.ts';
import { eventsBetween, readLook } from './tree-events.ts';

const watchRequest = z.object({
  path: z.string().default('').transform(insidePath),
  recursive: z.boolean().default(false),
  includeEntry: z.boolean().default(false),
  allowNetworkMounts: z.boolean().default(false),
});

/** Most that one look may say; a larger tree is cut there. */
const MAX_LOOK_BYTES = 4 * 2 ** 20;
const LOOK_END = '\n=\n';

/**
 * Looks again and again, and prints a look when it differs from the one before. Times are to the nanosecond where \`stat\` tells them so,
 * and pauses shorter where \`sleep\` knows fractions.
 */
const SCRIPT = `[ -e "$1" ] || exit 40
cd -- "$1" 2>/dev/null || exit 44
f='%i %s %.9Y %.9Z %f %n'
case $(stat -c '%.9Y' . 2>/dev/null) in *.*[0-9]*) ;; *) f='%i %s %Y %Z %f %n'; stat -c "$f" . >/dev/null 2>&1 || exit 45 ;; esac
d=; [ "$2" = all ] || d='-maxdepth 1'
o==
while :; do
  n=$(find . -mindepth 1 $d -exec stat -c "$f" -- {} + 2>/dev/null | head -c ${MAX_LOOK_BYTES})
  if [ "$n" != "$o" ]; then o=$n; printf '%s\\n=\\n' "$n"; fi
  sleep 0.2 2>/dev/null || sleep 1
done`;

const REFUSALS = {
  40: ['NOT_FOUND', 'does not exist'],
  44: ['NOT_A_DIRECTORY', 'is no directory that can be entered'],
  45: ['UNSUPPORTED', 'cannot be watched, because the sandbox has no stat that knows formats'],
} as const;

/** Tells what changes below a directory until the client goes or its time is over. */
export const watchDir: StreamCall = async ({ sandbox }, body, { timeoutMs, open, onGone }) => {
  const { path, recursive, includeEntry, allowNetworkMounts } = parseJson(watchRequest, body);
  if (includeEntry || allowNetworkMounts)
    throw new LitterboxError('UNSUPPORTED', 'includeEntry and allowNetworkMounts are not known here.', {
      operation: 'e2b.watch',
    });
  const command = ['sh', '-c', SCRIPT, 'sh', path, recursive ? 'all' : 'one'] as const;
  const attached = await sandbox.attach({ command, subject: `watch ${path}`, noInput: true, tool: 'run' });
  const { process } = attached;
  const end = async () => await process[Symbol.asyncDispose]();
  const stream = open();
  onGone(() => void end().catch(() => {}));
  let isOver = false;
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          isOver = true;
          void end().catch(() => {});
        }, timeoutMs);
  const follow = async () => {
    let before: ReturnType<typeof readLook> | undefined;
    for await (const text of looksOf(process)) {
      const now = readLook(text);
      if (!before) await stream.send({ start: {} });
      else for (const event of eventsBetween(before, now)) await stream.send({ filesystem: event });
      before = now;
    }
    const exit = await process.exit;
    await attached.finish(exit);
    const [code, what] = REFUSALS[exit.code as keyof typeof REFUSALS] ?? ['CHANNEL_BROKEN', 'is no longer watched'];
    if (isOver)
      throw new LitterboxError('TIMED_OUT', 'The time limit of the watch is over.', { operation: 'e2b.watch' });
    throw new LitterboxError(code, `${JSON.stringify(path)} ${what}.`, { operation: 'e2b.watch' });
  };
  void follow()
    .catch((error: unknown) => stream.end(failureOf(error)))
    .finally(() => clearTimeout(timer));
};

async function* looksOf(
  chunks: AsyncIterable<{ readonly type: string; readonly bytes: Uint8Array }>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '\n'; // so that an empty look has its end too
  for await (const { type, bytes } of chunks) {
    if (type !== 'stdout-data') continue;
    text += decoder.decode(bytes, { stream: true });
    for (let at = text.indexOf(LOOK_END); at >= 0; at = text.indexOf(LOOK_END)) {
      yield text.slice(0, at);
      text = `\n${text.slice(at + LOOK_END.length)}`;
    }
    if (text.length > 2 * MAX_LOOK_BYTES) return; // no look of ours is so long
  }
}
