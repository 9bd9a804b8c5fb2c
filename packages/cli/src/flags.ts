import { LitterboxError, parseByteSize, parseDuration, shown } from '@litterbox/core';

/** Flags of the command line, parsed once. Each throws `ARG_RANGE` or `INVALID_ARGUMENT` with the accepted form. */
export const flag = {
  bytes: (name: string, text: string | undefined) => parsed(name, text, parseByteSize, 'a size such as 512MiB or 2GiB'),
  duration: (name: string, text: string | undefined) =>
    parsed(name, text, parseDuration, 'a duration such as 30s or 5m'),
  count: (name: string, text: string | undefined) =>
    parsed(name, text, (one) => (/^[1-9]\d{0,8}$/.test(one) ? Number(one) : undefined), 'a whole number from 1'),
  number: (name: string, text: string | undefined) =>
    parsed(
      name,
      text,
      (one) => (/^\d{1,4}(\.\d{1,3})?$/.test(one) && Number(one) > 0 ? Number(one) : undefined),
      'a number such as 1.5',
    ),
  variables(pairs: readonly string[]): Readonly<Record<string, string>> {
    return Object.fromEntries(
      pairs.map((pair) => {
        const cut = pair.indexOf('=');
        if (cut < 1)
          throw new LitterboxError('ENV_NAME', `--env ${shown(pair)} is not NAME=value.`, {
            operation: 'cli.parse',
            hint: 'Write --env NAME=value.',
          });
        return [pair.slice(0, cut), pair.slice(cut + 1)];
      }),
    );
  },
};

function parsed<Value>(
  name: string,
  text: string | undefined,
  parse: (text: string) => Value | undefined,
  wanted: string,
): Value | undefined {
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value !== undefined) return value;
  throw new LitterboxError('ARG_RANGE', `${name} ${shown(text)} is not ${wanted}.`, {
    operation: 'cli.parse',
    hint: `Give ${wanted}.`,
  });
}
