import { AgentLog } from '@litterbox/agents';
import { findSandbox, LitterboxError, visible } from '@litterbox/core';
import { agentDirectory } from '@litterbox/state-sqlite';
import { defaultStateDirectory } from 'litterbox/performer';
import { passOn } from '../terminal/output-streams.ts';
import type { Perform } from '../perform.ts';
import { RunningAgent } from './running-agent.ts';

/** `litterbox agent attach NAME`: what the agent inside prints, from the beginning to its end. Whoever goes away leaves it at work. */
export const attach: Perform = async (context, [name = '']) => {
  const { talk, signal } = context;
  const refuse = (code: 'ARG_UNKNOWN' | 'NOT_FOUND', message: string, hint: string) =>
    new LitterboxError(code, message, { operation: 'agent.attach', hint });
  if (talk.json)
    throw refuse(
      'ARG_UNKNOWN',
      'What an agent prints goes on, so there is no document of it.',
      'Use agent logs --json.',
    );
  const record = await (await context.litterbox()).perform(findSandbox, { sandbox: name }, { signal });
  const kept = agentDirectory(defaultStateDirectory(process.env), record.id);
  const isAtWork = () => RunningAgent.isAtWork(kept);
  if (!isAtWork())
    throw refuse(
      'NOT_FOUND',
      `No agent of litterbox agent run works in ${record.slug}.`,
      `litterbox agent logs ${record.slug} has what the last one printed.`,
    );
  talk.endProgress();
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of AgentLog.follow(kept, isAtWork, signal)) {
    if (!process.stdout.isTTY) await passOn({ type: 'stdout-data', bytes });
    else {
      const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) process.stdout.write(`${visible(line)}\n`);
    }
  }
  if (rest !== '') process.stdout.write(`${visible(rest)}\n`);
  talk.notice(`It has ended. See its work: litterbox diff ${record.slug}.`);
};
