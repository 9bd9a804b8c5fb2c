import { styleText } from 'node:util';
import { type Progress, visible } from '@litterbox/core';
import { isDumb } from './is-dumb.ts';
import { jsonLine } from './json-line.ts';
import { progressLine } from './progress-line.ts';

export interface TalkOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean | undefined;
}

const CLEAR_LINE = '\r\u001b[2K';

type Format = Parameters<typeof styleText>[0];

/** What a command says: results on stdout, everything else on stderr. */
export class Talk {
  readonly json: boolean;
  readonly #quiet: boolean;
  readonly #hasColor: (stream: NodeJS.WriteStream) => boolean;
  /** What the line on a terminal shows. */
  #step: Progress | undefined;
  #stepBegunMs = 0;
  #ticker: NodeJS.Timeout | undefined;

  constructor({ json, quiet, color }: TalkOptions) {
    this.json = json;
    this.#quiet = quiet;
    const { NO_COLOR: none, FORCE_COLOR: forced } = process.env;
    this.#hasColor = (stream) =>
      color ??
      (forced !== undefined && forced !== '0'
        ? true
        : (none === undefined || none === '') && stream.isTTY && !isDumb());
  }

  /** Text for stdout, in colour where a person reads it. */
  paint(format: Format, text: string, stream: NodeJS.WriteStream = process.stdout): string {
    return this.#hasColor(stream) ? styleText(format, text, { validateStream: false }) : text;
  }

  get isColored(): boolean {
    return this.#hasColor(process.stdout);
  }

  result(text: string): void {
    this.endProgress();
    process.stdout.write(`${text}\n`);
  }

  /** The one document of `--json`. */
  document(value: unknown): void {
    process.stdout.write(jsonLine(value));
  }

  notice(text: string): void {
    if (this.#quiet) return;
    this.endProgress();
    process.stderr.write(`${text}\n`);
  }

  warning(text: string): void {
    this.endProgress();
    process.stderr.write(`${this.paint('yellow', 'warning:', process.stderr)} ${visible(text)}\n`);
  }

  /** One line that is written over on a terminal, a line each elsewhere. */
  readonly progress = (progress: Progress): void => {
    if (this.#quiet || this.json) return;
    const { step, message, detail } = progress;
    if (step === 'wait') return this.notice(visible(message)); // what comes next may be what a command prints
    if (!process.stderr.isTTY || isDumb()) {
      if (detail === undefined) process.stderr.write(`${visible(message)}\n`);
      return;
    }
    if (detail === undefined) this.#stepBegunMs = performance.now();
    this.#step = progress;
    this.#draw();
    this.#ticker ??= setInterval(() => this.#draw(), 1000).unref();
  };

  #draw(): void {
    if (!this.#step) return;
    const line = progressLine(this.#step, performance.now() - this.#stepBegunMs, process.stderr.columns || 80);
    process.stderr.write(`${CLEAR_LINE}${this.paint('dim', line, process.stderr)}`);
  }

  error(message: string, hint: string | undefined): void {
    this.endProgress();
    process.stderr.write(`${this.paint('red', 'error:', process.stderr)} ${visible(message)}\n`);
    if (hint !== undefined && hint !== '')
      process.stderr.write(`${this.paint('cyan', '→', process.stderr)} ${visible(hint)}\n`);
  }

  /** Before a program of the sandbox writes to the terminal itself. */
  endProgress(): void {
    if (this.#step) process.stderr.write(CLEAR_LINE);
    this.#step = undefined;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }
}
