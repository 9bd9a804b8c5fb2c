// Loaded with --import before a program of the tests: does at the failpoints of LITTERBOX_FAILPOINT what it says there.
// LITTERBOX_FAILPOINT='create.after-record=kill,exec.after-start@2=throw,exec.after-exit:record.after-scan=kill': names of points; a
// number is for a later time it is reached, a name before a colon for the first time after that one.
import process from 'node:process';

type Action = 'kill' | 'pause' | 'throw';

const ACTIONS: Readonly<Record<Action, (point: string) => void>> = {
  kill: () => process.kill(process.pid, 'SIGKILL'),
  pause: () => process.kill(process.pid, 'SIGSTOP'),
  throw: (point) => {
    throw new Error(`failpoint ${point}`);
  },
};

const wanted = new Map<string, { readonly action: Action; left: number; after: string | undefined }>();
for (const one of (process.env['LITTERBOX_FAILPOINT'] ?? '').split(',').filter(Boolean)) {
  const [, after, point = '', time = '1', action = ''] =
    /^(?:([a-z.-]+):)?([a-z.-]+)(?:@(\d+))?=(\w+)$/.exec(one) ?? [];
  if (!(action in ACTIONS)) throw new Error(`LITTERBOX_FAILPOINT is not understood: ${one}`);
  wanted.set(point, { action: action as Action, left: Number(time), after });
}

(globalThis as Record<symbol, unknown>)[Symbol.for('litterbox.failpoint')] = (point: string) => {
  for (const one of wanted.values()) if (one.after === point) one.after = undefined;
  const found = wanted.get(point);
  if (!found || found.after !== undefined || --found.left !== 0) return;
  ACTIONS[found.action](point);
};
