import type { Failure } from '../door/failure.ts';
import type { AnswerStream } from './envelope.ts';
import type { ProcessConfig } from './process-config.ts';
import type { StartedProgram } from './started-program.ts';

const GO_SIGNALS: Readonly<Record<string, string>> = {
  SIGKILL: 'killed',
  SIGTERM: 'terminated',
  SIGINT: 'interrupt',
  SIGHUP: 'hangup',
};

/**
 * A program that clients follow: each hears what it prints from then on. It runs on when they have gone, and what it prints then is thrown
 * away. A client that does not read holds it back.
 */
export class RunningProcess implements AsyncDisposable {
  readonly pid: number;
  readonly config: ProcessConfig;
  readonly program: StartedProgram;
  readonly #followers = new Set<AnswerStream>();
  readonly #onEnd: () => void;

  constructor(pid: number, config: ProcessConfig, program: StartedProgram, onEnd: () => void) {
    this.pid = pid;
    this.config = config;
    this.program = program;
    this.#onEnd = onEnd;
  }

  /** Tells a client that it follows now, and then what comes. The first one starts the telling. */
  async follow(stream: AnswerStream): Promise<void> {
    await stream.send({ event: { start: { pid: this.pid } } });
    this.#followers.add(stream);
  }

  unfollow(stream: AnswerStream): void {
    this.#followers.delete(stream);
  }

  /** Sends every client away; it runs on. */
  leave(message: string): void {
    this.#end({ status: 502, code: 'unavailable', message });
  }

  /** Tells its output until it has ended and its changes are recorded. */
  async pump(failureOf: (error: unknown) => Failure): Promise<void> {
    try {
      await Promise.all(
        this.program.outputs.map(async ([kind, output]) => {
          for await (const bytes of output)
            await this.#send({ data: { [kind]: Buffer.from(bytes).toString('base64') } });
        }),
      );
      const { exitCode, signal } = await this.program.wait();
      const status = signal === undefined ? `exit status ${exitCode}` : `signal: ${GO_SIGNALS[signal] ?? signal}`;
      const code = signal === undefined ? exitCode : -1;
      const error = code === 0 ? {} : { error: status };
      await this.#send({ end: { exitCode: code, exited: signal === undefined, status, ...error } });
      this.#end();
    } catch (error) {
      this.#end(failureOf(error));
    } finally {
      this.#onEnd();
    }
  }

  /** Its time is over: it ends with all that it started. */
  async timeOut(): Promise<void> {
    this.#end({ status: 504, code: 'deadline_exceeded', message: 'The time limit of the process is over.' });
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.end();
    this.leave('The process was ended.');
  }

  async #send(event: object): Promise<void> {
    await Promise.all([...this.#followers].map(async (stream) => await stream.send({ event })));
  }

  #end(failure?: Failure): void {
    for (const stream of this.#followers) stream.end(failure);
    this.#followers.clear();
  }
}
