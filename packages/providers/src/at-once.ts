/** Tells what providers have on this machine, without making them. By kind: those whose files say it. */
export const STATES_AT_ONCE = {
  overlayfs: async () => (await import('@litterbox/provider-overlayfs/at-once')).overlayStates,
};
