/** What the client of an exec server is answered instead of a result. */
export class ExecError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
