/** A secret by the name that people know it by, and the bytes that are searched for. */
export interface SecretBytes {
  readonly name: string;
  /** At least one. */
  readonly bytes: Uint8Array;
}
