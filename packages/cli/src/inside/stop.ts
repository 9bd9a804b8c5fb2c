import { setTimeout as sleep } from 'node:timers/promises';
import { isLitterboxError, LitterboxError } from '@litterbox/core';
import { agentDirectory } from '@litterbox/state-sqlite';
import type { Sandbox } from 'litterbox';
import { defaultStateDirectory } from 'litterbox/performer';
import type { Context } from '../context.ts';
import { loadForAgent } from '../load-litterbox.ts';
import type { Perform } from '../perform.ts';
import { askOrCancel } from '../terminal/ask.ts';
import { RunningAgent } from './running-agent.ts';

/** Until what the agent changed is recorded. */
const WAIT_MS = 60_000;
const LOOK_MS = 200;

/** `litterbox agent stop NAME`: ends the agent that works inside; what it changed is recorded. */
export const stop: Perform = async (context, [name = '']) => {
  const { talk, directory, signal } = context;
  await using litterbox = await loadForAgent(directory, askOrCancel, 'cli');
  const sandbox = await litterbox.open(name, { signal });
  const kept = agentDirectory(defaultStateDirectory(process.env), sandbox.id);
  const pid = await holderOf(sandbox, context);
  if (pid === undefined || pid !== RunningAgent.pidOf(kept))
    throw new LitterboxError('NOT_FOUND', `No agent of litterbox agent run works in ${sandbox.name}.`, {
      operation: 'agent.stop',
      hint: 'litterbox list tells who works where; an agent in a terminal is ended there.',
    });
  if (RunningAgent.claimStop(kept)) process.kill(pid, 'SIGTERM');
  const untilMs = performance.now() + WAIT_MS;
  while ((await holderOf(sandbox, context)) === pid) {
    if (performance.now() > untilMs)
      throw new LitterboxError('TIMED_OUT', `The agent in ${sandbox.name} did not end within ${WAIT_MS / 1000} s.`, {
        operation: 'agent.stop',
        hint: `End it for good: litterbox pause ${sandbox.name} --stop, or kill the process ${pid}.`,
      });
    await sleep(LOOK_MS, undefined, { signal });
  }
  if (talk.json) talk.document({ sandbox: sandbox.name, stopped: true });
  else talk.notice(`Stopped the agent in ${sandbox.name}. See its work: litterbox diff ${sandbox.name}.`);
};

/** The process that has the seat of the sandbox. The kernel frees it with the process, so the number is nobody else's. */
async function holderOf(sandbox: Sandbox, { signal }: Context): Promise<number | undefined> {
  try {
    await using _seat = await sandbox.seat('stop', { signal });
    return undefined;
  } catch (error) {
    if (!isLitterboxError(error, 'BUSY')) throw error;
    const { holderPid } = error.details.facts ?? {};
    return typeof holderPid === 'number' ? holderPid : undefined;
  }
}
