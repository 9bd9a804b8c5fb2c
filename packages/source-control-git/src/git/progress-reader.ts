import type { Progress } from '@litterbox/core/provider';

/** What git counts here. A server's words stand behind `remote: `, and are not passed on. */
const COUNT = /^(Receiving objects|Resolving deltas): +[0-9]+% \(([0-9]+)\/([0-9]+)\)/;
const MAX_LINE_CHARACTERS = 1024;
/** A line for each is enough for who waits; git counts every percent. */
const STEPS = 4;

/** Reads how far a clone is from what git writes on standard error, however that is cut into pieces. */
export function progressReader(onProgress: (progress: Progress) => void): (piece: Uint8Array) => void {
  let rest = '';
  let last = '';
  return (piece) => {
    const lines = (rest + Buffer.from(piece).toString('latin1')).split(/[\r\n]/);
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_CHARACTERS);
    for (const line of lines) {
      const [, what, done, total] = COUNT.exec(line) ?? [];
      if (what === undefined) continue;
      const percent = (Math.floor((Number(done) * STEPS) / Number(total)) * 100) / STEPS;
      const message = `${what}: ${percent} %`;
      if (percent > 0 && message !== last)
        onProgress({ step: 'fetch', message, done: Number(done), total: Number(total) });
      last = message;
    }
  };
}
