/** A stream of bytes that can be held back: what of Node's readable streams is needed. */
export interface OutputSource {
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  readonly closed: boolean;
  on(event: 'data', listener: (bytes: Uint8Array) => void): unknown;
  once(event: 'end' | 'close', listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
}
