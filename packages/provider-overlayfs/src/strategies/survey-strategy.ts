import type { CallOptions, Host, ProbeCheck } from '@litterbox/core/provider';
import { runScript } from '@litterbox/linux-sandbox';
import type { Strategy } from './strategy.ts';

/**
 * What a strategy that works has to tell a person besides; nothing where it has nothing.
 *
 * @param root absolute path of the provider's own directory, which is there
 */
export async function surveyStrategy(
  host: Host,
  { name, survey }: Strategy,
  root: string,
  options?: CallOptions,
): Promise<readonly ProbeCheck[]> {
  if (!survey) return [];
  const { code, stdout } = await runScript(host, survey.script(root), options);
  const finding = stdout.trim();
  if (code !== 0 || finding === '') return [];
  return [{ name: `leavings (${name})`, status: 'warning', finding, remedy: survey.remedy }];
}
