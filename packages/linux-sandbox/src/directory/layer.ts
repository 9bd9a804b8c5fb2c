/** A directory of a sandbox's that holds files of its programs, and how another sandbox or a snapshot gets the same. */
export interface Layer {
  /** Its name in the sandbox's directory. */
  readonly name: string;
  /** Shell text, a command with a status, while nobody writes: makes `to` like `from`. `to` is not there, or is there and empty. */
  copy(from: string, to: string): string;
  /** The same by the session program: the kind of its `copies`. Absent where it takes other programs. */
  readonly kind?: 'tree' | 'some' | 'upper';
}
