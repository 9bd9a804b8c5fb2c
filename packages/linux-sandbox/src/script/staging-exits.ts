/** Exit codes of what makes or removes the directory of a sandbox, under those of `COPY_EXITS`. `byShell`: the program leaves it to shell text. */
export const STAGING_EXITS = {
  diskTooSmall: 87,
  taken: 88,
  baseMissing: 89,
  networkFileSystem: 90,
  unmakeable: 91,
  byShell: 92,
} as const;
