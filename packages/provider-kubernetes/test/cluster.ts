import { localHost } from '@litterbox/host';
import { kubernetes } from '../src/index.ts';

/** Why the cluster of KUBECONFIG cannot be used, if so. No other is ever looked for: a person's own may be a real one. */
export async function absence(): Promise<string | undefined> {
  if (!process.env['KUBECONFIG']) return 'KUBECONFIG names no cluster; npm run test:kubernetes makes one';
  const host = localHost();
  await using provider = kubernetes({ host, facts: await host.facts(), directory: '/nowhere' });
  const { usable, checks } = await provider.probe();
  return usable ? undefined : checks.find(({ status }) => status === 'failed')?.finding;
}
