import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { hintForPeople, isLitterboxError, LitterboxError, reconcileState, visible } from '@litterbox/core';
import { tokenFrom } from '@litterbox/mcp/start';
import { loadForPrograms } from './load-litterbox.ts';
import type { Perform } from './perform.ts';
import { portOf } from './words/port-of.ts';

/** Options that are about agents. */
const OF_AGENTS = {
  sandbox: '--sandbox',
  share: '--share',
  tools: '--tools',
  toolPrefix: '--tool-prefix',
  actor: '--actor',
};

/** `litterbox serve --e2b`: serves programs of E2B's SDK until it is ended. */
export const serveE2b: Perform = async ({ talk, directory, signal }, _words, flags) => {
  for (const [key, option] of Object.entries(OF_AGENTS)) {
    if (flags[key] === undefined) continue;
    throw new LitterboxError('INVALID_ARGUMENT', `${option} is about agents, and --e2b serves programs.`, {
      operation: 'cli.serve',
      hint: 'Leave one of them out.',
    });
  }
  const { defaultStateDirectory } = await import('litterbox');
  const { tokenFile } = flags;
  const path = typeof tokenFile === 'string' ? resolve(tokenFile) : join(defaultStateDirectory(), 'e2b.key');
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const key = tokenFrom(path, 'e2b');
  await using litterbox = await loadForPrograms(directory, flags['empty'] === true, 'e2b');
  for (const sentence of await litterbox.perform(reconcileState, {}, { signal })) talk.notice(visible(sentence));
  const { startE2b } = await import('@litterbox/e2b');
  const onProblem = (error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    const hint = isLitterboxError(error) ? hintForPeople(error.details) : undefined;
    talk.notice(visible(hint === undefined ? text : `${text} ${hint}`));
  };
  await using server = await startE2b({ litterbox, key, port: portOf('serve', flags['port']), onProblem });
  const variables = { E2B_API_URL: server.url, E2B_SANDBOX_URL: server.url };
  if (talk.json) talk.document({ ...variables, keyFile: path });
  else for (const [name, value] of Object.entries(variables)) talk.result(`export ${name}=${value}`);
  talk.notice(`The key is in a file: export E2B_API_KEY=$(cat '${path}'). Ctrl-C ends the server; sandboxes stay.`);
  if (!signal.aborted) await once(signal, 'abort');
};
