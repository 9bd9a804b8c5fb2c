/** The options of a call of the library, which has no member that is undefined. */
export const callOf = (signal: AbortSignal | undefined): { readonly signal?: AbortSignal } =>
  signal ? { signal } : {};
