// Started by the kill tests: opens a repository and does one thing there, to be killed while it does it.
import { readFileSync } from 'node:fs';
import { type SandboxId } from '@litterbox/core/provider';
import { git } from '../src/index.ts';

const job = JSON.parse(readFileSync(0, 'utf8')) as {
  state: string;
  root: string;
  id: SandboxId;
  environment: Record<string, string>;
  what: 'merge' | 'apply' | 'record';
  content?: string;
  times?: number;
  autostash?: boolean;
};

await using control = git({ stateDirectory: job.state, environment: job.environment });
await using repository = await control.open(job.root);
const { TAR_END, tarHeader, tarPadding } = await import('../src/objects/tar-writer.ts');

if (job.what === 'record') {
  for (let count = 0; count < (job.times ?? 1); count++) {
    const content = Buffer.from(`${job.content} ${count}\n`);
    const result = await repository
      .record(job.id, {
        changes: (async function* () {
          yield { type: 'file', path: 'a.txt', sizeBytes: content.length, executable: false } as const;
        })(),
        contents: () =>
          ReadableStream.from([
            tarHeader({ type: 'file', name: 'a.txt', mode: 0o644, sizeBytes: content.length }),
            content,
            tarPadding(content.length),
            TAR_END,
          ]),
        message: { subject: `${job.content} ${count}`, trailers: [] },
      })
      .catch((error: { code?: string }) => {
        if (error.code !== 'CONFLICT') throw error;
        return undefined;
      });
    process.stdout.write(result?.revision ? `${result.revision.commit}\n` : 'conflict\n');
  }
} else {
  const plan = await repository.plan(job.id, { integration: job.what, arguments: [] });
  process.stdout.write('planned\n');
  const result = await repository.execute(plan, { autostash: job.autostash ?? false });
  process.stdout.write(`${result.outcome}\n`);
}
