import * as z from 'zod';
import { parseByteSize } from '../../config/settings/parse-byte-size.ts';
import { parseDuration } from '../../config/settings/parse-duration.ts';
import { areLabels, LABELS_WANTED } from '../../domain/text/labels.ts';
import { type Wording, wordings } from './wording.ts';

/** 2 ** 53 - 1 is too many bytes for any machine and still exact. */
const MAX_BYTES = Number.MAX_SAFE_INTEGER;
const DAY_MS = 86_400_000;

const withCommas = { isList: true, parse: (text: string) => text.split(',') } as const;

/** Kinds of input fields that several operations share. A field's own words come with `describe`, right at the field. */
export const fields = {
  sandbox: () =>
    z
      .string()
      .register(wordings, { placeholder: 'name' })
      .describe('Name of the sandbox, slugified as it was at create'),

  bytes: (minimum: number) =>
    z.int().min(minimum).max(MAX_BYTES).register(wordings, {
      placeholder: 'size',
      parse: parseByteSize,
      wanted: 'a size such as 512MiB or 2GiB',
    }),

  durationMs: (minimum: number) =>
    z.int().min(minimum).max(DAY_MS).register(wordings, {
      placeholder: 'duration',
      parse: parseDuration,
      wanted: 'a duration such as 30s or 5m',
    }),

  /** The state of a sandbox that a person says yes to. */
  tip: () =>
    fields
      .text('revision')
      .optional()
      .describe('Take exactly this revision, which has to be the newest, without having been shown it'),

  acceptRisky: () =>
    fields
      .flag()
      .register(wordings, { flag: 'yes-risky' })
      .optional()
      .describe('Accept files that run code on this machine, of what you were shown'),

  waitMs: () =>
    fields.durationMs(0).optional().describe('How long to wait for another call in the sandbox to end, such as 5m'),

  count: (minimum: number, maximum: number, wording: Pick<Wording, 'flag' | 'short'> = {}) =>
    z
      .int()
      .min(minimum)
      .max(maximum)
      .register(wordings, {
        placeholder: 'count',
        parse: (text) => {
          if (!/^\d{1,15}$/.test(text)) return undefined;
          const count = Number(text);
          // An option of another name than the argument's is refused by its own.
          return wording.flag !== undefined && (count < minimum || count > maximum) ? undefined : count;
        },
        wanted: `a whole number, ${minimum}..${maximum}`,
        ...wording,
      }),

  /** How many entries of a list, the newest. */
  limit: () =>
    z
      .int()
      .min(1)
      .max(1_000_000)
      .register(wordings, {
        placeholder: 'count',
        flag: 'number',
        short: 'n',
        parse: (text) => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined),
        wanted: 'a whole number from 1',
      }),

  number: (minimum: number, maximum: number) =>
    z
      .number()
      .min(minimum)
      .max(maximum)
      .register(wordings, {
        placeholder: 'number',
        parse: (text) => (/^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined),
        wanted: `a number, ${minimum}..${maximum}, such as 1.5`,
      }),

  text: (placeholder: string) => z.string().register(wordings, { placeholder }),

  /** Rules of the network: a list for a program, with commas between them on a command line. */
  rules: () => z.array(z.string()).register(wordings, { placeholder: 'hosts', ...withCommas, wanted: 'hosts' }),

  /** Paths of the working tree: a list for a program, with commas between them on a command line. */
  paths: () => z.array(z.string()).register(wordings, { placeholder: 'paths', ...withCommas, wanted: 'paths' }),

  /** Machines of the user's: a name or a list for a program, with commas between them on a command line. */
  machines: () =>
    z
      .union([z.string(), z.array(z.string()).readonly()])
      .register(wordings, { placeholder: 'hosts', ...withCommas, wanted: 'hosts' }),

  flag: () => z.boolean(),

  /** Any content, text or not. */
  octets: () => z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'Uint8Array'),

  /** Variables: an object for a program, `NAME=value` again and again on a command line. */
  variables: () => z.record(z.string(), z.string()).register(wordings, { placeholder: 'name=value', flag: 'env' }),

  /** Labels of a sandbox: an object for a program, `name=value` again and again on a command line. */
  labels: () =>
    z.record(z.string(), z.string()).refine(areLabels, LABELS_WANTED).register(wordings, {
      placeholder: 'name=value',
      flag: 'label',
      about: 'Labels to find it by, up to 32, by their names',
    }),

  /** A shell command, or a program and its arguments as they are. */
  command: () =>
    z.union([z.string(), z.tuple([z.string()], z.string()).readonly()]).register(wordings, { placeholder: 'command' }),

  message: () => z.string().register(wordings, { placeholder: 'text', short: 'm' }),
};
