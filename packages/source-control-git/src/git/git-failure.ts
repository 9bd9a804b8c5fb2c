/** git ended with an exit code that means failure. Never leaves the package: see `to-litterbox-error.ts`. */
export class GitFailure extends Error {
  static {
    Object.defineProperty(this.prototype, 'name', { value: 'GitFailure' });
  }
  readonly code: number;
  readonly stderr: string;

  constructor(args: readonly string[], code: number, stderr: string) {
    super(`git ${verbOf(args)} ended with ${code}: ${stderr.trim()}`);
    this.code = code;
    this.stderr = stderr;
  }
}

function verbOf(args: readonly string[]): string {
  return args.find((argument, index) => !argument.startsWith('-') && args[index - 1] !== '-c') ?? '';
}

/** What git says on several lines, for a message of one. */
export const oneLine = (text: string): string => text.trim().replace(/\s*\n\s*/g, ' ');
