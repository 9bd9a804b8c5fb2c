import type { UserRepository } from './user-repository.ts';

/** The person's configuration, keys in lower case as git gives them, the last value of each. */
export async function readUserConfig(
  user: UserRepository,
  pattern: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await user.run(['config', '-z', '--get-regexp', pattern], { setting: 'user', signal });
  const values = new Map<string, string>();
  for (const record of stdout.toString().split('\0')) {
    const newline = record.indexOf('\n');
    // A key without a value means true.
    if (record !== '')
      values.set(newline < 0 ? record : record.slice(0, newline), newline < 0 ? 'true' : record.slice(newline + 1));
  }
  return values;
}

export const isOn = (value: string | undefined): boolean =>
  value !== undefined && ['true', 'yes', 'on', '1'].includes(value.toLowerCase());
