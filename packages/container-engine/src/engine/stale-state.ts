/**
 * How long what Docker tells of a pause may be out of date, in milliseconds: it notes one when it makes it, and once more when its
 * runtime reports it, which may be after the next change. Seen on a busy machine, for some milliseconds.
 */
export const STALE_STATE_MS = 5_000;
/** How long to wait before it is asked again, in milliseconds. */
export const LOOK_AGAIN_MS = 20;
