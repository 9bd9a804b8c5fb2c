/**
 * The user on the host of a sandbox's programs, where root makes the sandbox: reserved for Litterbox, in no file of accounts, so that it owns nothing
 * else. One for all sandboxes: they share frozen base trees, and no namespace shows them each other.
 */
export const SANDBOX_USER = { uid: 61100, gid: 61100 } as const;
