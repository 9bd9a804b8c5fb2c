/** Exit codes of what makes the directory of a sandbox, under those of `COPY_EXITS`. */
export const STAGING_EXITS = {
  diskTooSmall: 87,
  taken: 88,
  baseMissing: 89,
  networkFileSystem: 90,
  unmakeable: 91,
} as const;
