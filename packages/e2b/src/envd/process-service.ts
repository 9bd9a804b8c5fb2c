import { LitterboxError } from 'litterbox';
import { failureOf } from '../door/failure.ts';
import { parseJson } from '../door/parse-json.ts';
import type { ServedSandbox } from '../served-sandbox.ts';
import type { AnswerStream } from './envelope.ts';
import { insidePath } from './inside-path.ts';
import {
  connectRequest,
  listRequest,
  sendInputRequest,
  signalRequest,
  startRequest,
  updateRequest,
} from './process-input.ts';
import type { ProcessConfig } from './process-config.ts';
import { RunningProcess } from './running-process.ts';
import { startWithPipes, startWithTerminal } from './started-program.ts';

/** Most processes of one sandbox that clients follow or may come back to. */
const MAX_PROCESSES = 256;
let lastPid = 1000; // of our own: inside they would mean something else on each provider

/** Calls with one answer, by their names. */
export const PROCESS_CALLS: Readonly<Record<string, (served: ServedSandbox, body: Buffer) => Promise<object>>> = {
  async List({ processes }, body) {
    parseJson(listRequest, body);
    const shown = [...processes.values()].map(({ pid, config: { tag, ...config } }) => ({
      pid,
      config,
      ...(tag !== undefined && { tag }),
    }));
    return { processes: shown };
  },
  async SendInput(served, body) {
    const { process, input } = parseJson(sendInputRequest, body);
    await served.process(process).program.write(input.stdin ?? input.pty ?? new Uint8Array());
    return {};
  },
  async CloseStdin(served, body) {
    await served.process(parseJson(connectRequest, body).process).program.closeStdin();
    return {};
  },
  async SendSignal(served, body) {
    const { process, signal } = parseJson(signalRequest, body);
    const one = served.process(process);
    await one.program.kill(signal === 'SIGNAL_SIGTERM' ? 'SIGTERM' : 'SIGKILL');
    return {};
  },
  async Update(served, body) {
    const { process, pty } = parseJson(updateRequest, body);
    await served.process(process).program.resize?.({ columns: pty.size.cols, rows: pty.size.rows });
    return {};
  },
};

/** A call whose answer is a stream. Resolves when the client follows; the stream ends by itself. */
export type StreamCall = (
  served: ServedSandbox,
  body: Buffer,
  call: { readonly timeoutMs: number | undefined; open(): AnswerStream; onGone(leave: () => void): void },
) => Promise<void>;

export const PROCESS_STREAMS: Readonly<Record<string, StreamCall>> = {
  async Start(served, body, { timeoutMs, open, onGone }) {
    const { process, pty, tag, stdin } = parseJson(startRequest, body);
    if (served.processes.size >= MAX_PROCESSES)
      throw new LitterboxError('RESOURCE_EXHAUSTED', `${MAX_PROCESSES} processes run in the sandbox already.`, {
        operation: 'e2b.process',
        hint: 'End one first.',
      });
    const config: ProcessConfig = { ...process, cwd: insidePath(process.cwd ?? ''), tag };
    const program = await (pty
      ? startWithTerminal(served.sandbox, config, { columns: pty.size.cols, rows: pty.size.rows })
      : startWithPipes(served.sandbox, config, stdin ? 'pipe' : 'none'));
    lastPid += 1;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => void one.timeOut().catch(() => {}), timeoutMs);
    const one = new RunningProcess(lastPid, config, program, () => {
      clearTimeout(timer);
      served.processes.delete(one.pid);
    });
    served.processes.set(one.pid, one);
    const stream = open();
    onGone(() => one.unfollow(stream));
    await one.follow(stream);
    void one.pump(failureOf);
  },
  async Connect(served, body, { open, onGone }) {
    const one = served.process(parseJson(connectRequest, body).process);
    const stream = open();
    onGone(() => one.unfollow(stream));
    await one.follow(stream);
  },
};
