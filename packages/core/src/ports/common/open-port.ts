/** A port that leads to this process. Disposing closes it and its connections, and is idempotent. */
export interface OpenPort extends AsyncDisposable {
  /** Resolves when nothing listens any more, whatever the reason; never rejects. */
  readonly ended: Promise<void>;
}
