import { type OperationOptions, visible } from '@litterbox/core/agent';
import type { ServerContext } from '@modelcontextprotocol/server';

/** A person reads along; more often is noise. */
const PAUSE_MS = 200;
const MAX_CHARACTERS = 200;

export interface ProgressReport extends Disposable {
  readonly listeners: Pick<OperationOptions, 'onOutput' | 'onProgress'>;
}

/** Tells a client that asked for it how a call goes on: the last line that a command printed, or the step that is done. */
export function reportProgress({ _meta, notify }: ServerContext['mcpReq']): ProgressReport {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { listeners: {}, [Symbol.dispose]() {} };
  let progress = 0;
  let lastMs = -Infinity;
  let waiting: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send = () => {
    timer = undefined;
    if (waiting === undefined) return;
    const message = waiting;
    waiting = undefined;
    lastMs = performance.now();
    progress += 1; // has to grow; how much there is to do is not known
    void notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {}); // a client that left needs none
  };
  const say = (message: string) => {
    waiting = message;
    timer ??= setTimeout(send, Math.max(0, lastMs + PAUSE_MS - performance.now()));
  };
  const decoder = new TextDecoder();
  return {
    listeners: {
      onOutput({ bytes }) {
        const lines = decoder.decode(bytes.subarray(-4096)).split('\n');
        const line = lines.findLast((one) => one.trim() !== '');
        if (line !== undefined) say(visible(line).slice(0, MAX_CHARACTERS));
      },
      onProgress: ({ message, detail }) => detail === undefined && say(message),
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}
