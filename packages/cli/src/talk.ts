import { styleText } from 'node:util';
import { type Progress, visible } from '@litterbox/core';
import { jsonLine } from './json-line.ts';

export interface TalkOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean | undefined;
}

type Format = Parameters<typeof styleText>[0];

/** What a command says: results on stdout, everything else on stderr. */
export class Talk {
  readonly json: boolean;
  readonly #quiet: boolean;
  readonly #hasColor: (stream: NodeJS.WriteStream) => boolean;
  #hasLine = false;

  constructor({ json, quiet, color }: TalkOptions) {
    this.json = json;
    this.#quiet = quiet;
    const { NO_COLOR: none, FORCE_COLOR: forced } = process.env;
    this.#hasColor = (stream) =>
      color ?? (forced !== undefined && forced !== '0' ? true : (none === undefined || none === '') && stream.isTTY);
  }

  /** Text for stdout, in colour where a person reads it. */
  paint(format: Format, text: string, stream: NodeJS.WriteStream = process.stdout): string {
    return this.#hasColor(stream) ? styleText(format, text, { validateStream: false }) : text;
  }

  get isColored(): boolean {
    return this.#hasColor(process.stdout);
  }

  result(text: string): void {
    this.#endLine();
    process.stdout.write(`${text}\n`);
  }

  /** The one document of `--json`. */
  document(value: unknown): void {
    process.stdout.write(jsonLine(value));
  }

  notice(text: string): void {
    if (this.#quiet) return;
    this.#endLine();
    process.stderr.write(`${text}\n`);
  }

  warning(text: string): void {
    this.#endLine();
    process.stderr.write(`${this.paint('yellow', 'warning:', process.stderr)} ${visible(text)}\n`);
  }

  /** One line that is written over on a terminal, a line each elsewhere. */
  readonly progress = ({ step, message }: Progress): void => {
    if (this.#quiet || this.json) return;
    if (step === 'wait') return this.notice(visible(message)); // what comes next may be what a command prints
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\u001b[2K${this.paint('dim', `${visible(message)} …`, process.stderr)}`);
      this.#hasLine = true;
    } else process.stderr.write(`${visible(message)}\n`);
  };

  error(message: string, hint: string | undefined): void {
    this.#endLine();
    process.stderr.write(`${this.paint('red', 'error:', process.stderr)} ${visible(message)}\n`);
    if (hint !== undefined && hint !== '')
      process.stderr.write(`${this.paint('cyan', '→', process.stderr)} ${visible(hint)}\n`);
  }

  #endLine(): void {
    if (this.#hasLine) process.stderr.write('\r\u001b[2K');
    this.#hasLine = false;
  }
}
