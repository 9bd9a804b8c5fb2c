/** Something that a person should hear of and that stops nothing. */
export interface ConfigWarning {
  readonly code: 'CONFIG_UNKNOWN_KEY' | 'CONFIG_NORMALISED';
  /** One sentence with its place. */
  readonly message: string;
  /** Dotted: `container.base_image`. */
  readonly key: string;
  /** The key that was probably meant. */
  readonly nearest?: string;
}
