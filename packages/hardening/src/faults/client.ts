// A program on one repository, started by tests to be killed, frozen or starved: does the jobs it reads from stdin, one JSON line
// each, in turn, and says how each one ended. Ends with its stdin.
import { createInterface } from 'node:readline';
import { isLitterboxError } from '@litterbox/core';
import { createLitterbox, type Litterbox } from 'litterbox';
import type { Job, Reply } from './job.ts';
import { yesTo } from '../yes-to.ts';
import { PROVIDERS_UNDER_TEST, type ProviderUnderTest } from './provider-under-test.ts';

const [repo = '', stateDirectory = '', provider = 'overlayfs'] = process.argv.slice(2);
const litterbox = createLitterbox({
  repo,
  stateDirectory,
  providers: [PROVIDERS_UNDER_TEST[provider as ProviderUnderTest]],
  actor: `client ${process.pid}`,
});

const say = (reply: Reply) => process.stdout.write(`${JSON.stringify(reply)}\n`);

async function carriedOut(on: Litterbox, job: Job): Promise<unknown> {
  switch (job.do) {
    case 'create':
      return (
        await on.create({
          name: job.name,
          ...(job.setup !== undefined && { setup: job.setup }),
        })
      ).id;
    case 'fork':
      return (await (await on.open(job.name)).fork({ name: job.as })).id;
    case 'run': {
      const { exitCode, stdout, stderr, recorded } = await (await on.open(job.name)).run(job.command, {
        onOutput: () => job.says && say({ during: job.do }),
      });
      return { exitCode, stdout, stderr, commit: recorded.revision?.commit };
    }
    case 'write':
      return { commit: (await (await on.open(job.name)).files.write(job.path, job.content)).revision?.commit };
    case 'read':
      return await readIn(on, job.name, job.path);
    case 'milestone':
      return (await on.milestone(job.name, job.message))?.commit;
    case 'apply':
    case 'merge': {
      const yes = await yesTo(on, job.name);
      const { outcome, isDeleted, plan } = await on[job.do](job.name, { autostash: job.autostash, ...yes });
      return { outcome, isDeleted, id: plan.sandbox };
    }
    case 'delete':
      return (await on.delete(job.name, { force: true })).id;
    case 'state':
      return (await on.setRunState(job.name, job.state)).isChanged;
    case 'restore':
      return (await on.restore(job.name, job.revision)).revision?.commit;
    case 'snapshot':
      return (await (await on.open(job.name)).snapshot()).note.label;
    case 'snapshot-restore':
      return (await (await on.open(job.name)).restoreSnapshot(job.label)).revision?.commit;
    case 'recover':
      return (await on.recover(job.name, { force: true })).id;
    case 'list':
      return (await on.list()).map(({ name, state }) => `${name} ${state}`);
    case 'reconcile':
      return await on.reconcile();
  }
}

/** The content, and which sandbox it is of unless the name changed hands meanwhile. */
async function readIn(on: Litterbox, name: string, path: string): Promise<{ content: string; id?: string }> {
  const { id } = await on.open(name);
  const content = Buffer.from(await (await on.open(name)).files.read(path)).toString();
  const isSame = (await on.list()).some((one) => one.id === id);
  return { content, ...(isSame && { id }) };
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
