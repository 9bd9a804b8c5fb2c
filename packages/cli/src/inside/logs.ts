import { AgentLog } from '@litterbox/agents';
import { decodeRaw, findSandbox, LitterboxError, visible } from '@litterbox/core';
import { agentDirectory } from '@litterbox/state-sqlite';
import { defaultStateDirectory } from 'litterbox/performer';
import type { Perform } from '../perform.ts';

/** `litterbox agent logs NAME`: what the agent inside printed until now, as it is into a file, and harmless on a terminal. */
export const logs: Perform = async (context, [name = '']) => {
  const { talk, signal } = context;
  const record = await (await context.litterbox()).perform(findSandbox, { sandbox: name }, { signal });
  const parts = AgentLog.read(agentDirectory(defaultStateDirectory(process.env), record.id));
  if (parts.length === 0)
    throw new LitterboxError('NOT_FOUND', `No agent of litterbox agent run has worked in ${record.slug}.`, {
      operation: 'agent.logs',
      hint: `litterbox log ${record.slug} has all calls.`,
    });
  if (talk.json)
    return talk.document({ sandbox: record.slug, output: parts.map((bytes) => decodeRaw(bytes)).join('') });
  for (const bytes of parts)
    process.stdout.write(process.stdout.isTTY ? decodeRaw(bytes).split('\n').map(visible).join('\n') : bytes);
};
