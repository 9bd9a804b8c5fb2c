// Started by the tests that count syncs: begins a history between two looks at files that are not there, which show in a trace.
import { existsSync, readFileSync } from 'node:fs';
import { SandboxId, slugify } from '@litterbox/core/provider';
import { git } from '../src/index.ts';

const job = JSON.parse(readFileSync(0, 'utf8')) as { state: string; root: string; environment: Record<string, string> };
await using control = git({ stateDirectory: job.state, environment: job.environment });
await using repository = await control.open(job.root);
for (const name of ['first', 'second']) {
  const base = await repository.base({ type: 'head' });
  existsSync(`/begins-${name}`);
  await repository.begin({ id: SandboxId.make(), slug: slugify(name).slug, base });
  existsSync(`/has-begun-${name}`);
}
