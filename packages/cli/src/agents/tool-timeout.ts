/**
 * How long a client is to wait for an answer: longer than a command may be given, which is an hour. Several clients give up after a
 * minute by themselves, and take the call back: the command is then ended and what it printed never arrives.
 */
export const TOOL_TIMEOUT_SECONDS = 3660;
