/** Keys of kept setups: digests, safe as names. */
export const SETUP_KEY = /^[0-9a-f]{8,128}$/;
