// A program on one repository, started by tests to be killed, frozen or starved: does the jobs it reads from stdin, one JSON line
// each, in turn, and says how each one ended. Ends with its stdin.
import { createInterface } from 'node:readline';
import { isLitterboxError } from '@litterbox/core';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox, type Litterbox } from 'litterbox';
import type { Job, Reply } from './job.ts';

const [repo = '', stateDirectory = ''] = process.argv.slice(2);
const litterbox = createLitterbox({ repo, stateDirectory, providers: [overlayfs], actor: `client ${process.pid}` });

const say = (reply: Reply) => process.stdout.write(`${JSON.stringify(reply)}\n`);

async function carriedOut(on: Litterbox, job: Job): Promise<unknown> {
  switch (job.do) {
    case 'create':
      return (
        await on.create({
          name: job.name,
          ...(job.setup !== undefined && { overrides: { setup: [['sh', '-c', job.setup]] } }),
        })
      ).id;
    case 'run': {
      const { exitCode, stdout, stderr, recorded } = await (await on.open(job.name)).run(job.command, {
        onOutput: () => job.says && say({ during: job.do }),
      });
      return { exitCode, stdout, stderr, commit: recorded.revision?.commit };
    }
    case 'write':
      return { commit: (await (await on.open(job.name)).write(job.path, job.content)).revision?.commit };
    case 'read':
      return Buffer.from(await (await on.open(job.name)).read(job.path)).toString();
    case 'milestone':
      return (await on.milestone(job.name, job.message))?.commit;
    case 'apply':
    case 'merge': {
      const { outcome, isDeleted } = await on[job.do](job.name, { autostash: job.autostash, acceptRisky: true });
      return { outcome, isDeleted };
    }
    case 'delete':
      return (await on.delete(job.name, { force: true })).id;
    case 'state':
      return (await on.setRunState(job.name, job.state)).isChanged;
    case 'restore':
      return (await on.restore(job.name, job.revision)).revision?.commit;
    case 'recover':
      return (await on.recover(job.name)).id;
    case 'list':
      return (await on.list()).map(({ name, state }) => `${name} ${state}`);
    case 'reconcile':
      return await on.reconcile();
  }
}

say({ during: 'start' });
for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line) as Job;
  try {
    say({ ok: (await carriedOut(litterbox, job)) ?? null });
  } catch (error) {
    const code = isLitterboxError(error) ? error.code : 'OTHER';
    const hint = isLitterboxError(error) ? error.details.hint : undefined;
    say({ error: { code, message: error instanceof Error ? (error.stack ?? error.message) : String(error), hint } });
  }
}
await litterbox[Symbol.asyncDispose]();
