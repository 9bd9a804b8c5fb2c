import * as z from 'zod';

/** How a value is written as words of a command line. */
export interface Wording {
  /** What stands for the value in help: `size`. */
  readonly placeholder?: string;
  /** The long option without dashes. @defaultValue the key in kebab-case, without its unit */
  readonly flag?: string;
  /** One letter. */
  readonly short?: string;
  /** Reads the value from text; `undefined` when it is none. @defaultValue the text itself */
  readonly parse?: (text: string) => unknown;
  /** The value is a list: `parse` gives one, and the option may be given again and again. */
  readonly isList?: boolean;
  /** Words for programs, in place of those of `describe`. A field with these alone is for programs alone: no command line has it. */
  readonly about?: string;
  /** What `parse` accepts, with an example: `a size such as 2GiB`. */
  readonly wanted?: string;
}

/** The schema of one field of an operation's input. */
export type FieldSchema = z.ZodType;

/** The wording of a field's schema, where it has one. */
export const wordings = z.registry<Wording>();
