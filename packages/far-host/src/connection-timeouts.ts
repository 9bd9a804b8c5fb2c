/** How long either side of a connection waits for the other. */
export interface ConnectionTimeouts {
  /** How often this side says that it is there, in milliseconds. */
  readonly beatMs: number;
  /** After so many beats without an answer the connection is given up here. Beats, not time: a program that was busy has not listened either. */
  readonly nearLostBeats: number;
  /** After so many seconds without a beat the other side ends what was started there. A multiple of `farLookSeconds`. */
  readonly farSilenceSeconds: number;
  /** How often the other side looks, in seconds. */
  readonly farLookSeconds: number;
  /** How long a program may take to start, in milliseconds. */
  readonly startMs: number;
}

/** Half a minute here, and a minute there before anything is ended. */
export const FAR_PATIENCE: ConnectionTimeouts = {
  beatMs: 10_000,
  nearLostBeats: 3,
  farSilenceSeconds: 60,
  farLookSeconds: 5,
  startMs: 30_000,
};
