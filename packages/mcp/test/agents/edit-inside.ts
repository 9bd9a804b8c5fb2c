import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { AgentFixture } from './agent-fixture.ts';
import { TASK } from './plots.ts';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
  readonly error?: unknown;
  readonly params?: { readonly options?: readonly { readonly optionId: string; readonly kind: string }[] };
}

/** A small editor: opens a session with `litterbox acp`, asks for the task, says yes to all that it is asked, and closes. */
export async function editInside(
  id: string,
  { scratch, environment }: AgentFixture,
  where: readonly string[],
  more: Readonly<Record<string, string>>,
  limitMs: number,
): Promise<{ readonly code: number | null; readonly said: string }> {
  const { repository: cwd } = scratch;
  const child = spawn('litterbox', ['acp', id, '--sandbox', 'mend-add', ...where], {
    cwd,
    env: { ...environment, ...more },
    timeout: limitMs,
  });
  const closed = once(child, 'close');
  const errors = text(child.stderr);
  const said: string[] = [];
  const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const fs = { readTextFile: true, writeTextFile: true };
  say({ id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: { fs, terminal: true } } });
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    const { id: answered, method, params, result, error } = JSON.parse(line) as Message;
    if (method === 'session/request_permission') {
      const option = params?.options?.find(({ kind }) => kind.startsWith('allow'));
      say({ id: answered, result: { outcome: { outcome: 'selected', optionId: option?.optionId } } });
    } else if (error !== undefined) child.stdin.end();
    else if (answered === 1) say({ id: 2, method: 'session/new', params: { cwd, mcpServers: [] } });
    else if (answered === 2)
      say({
        id: 3,
        method: 'session/prompt',
        params: { sessionId: result?.sessionId, prompt: [{ type: 'text', text: TASK }] },
      });
    else if (answered === 3) child.stdin.end();
  }
  await closed;
  return { code: child.exitCode, said: [...said, await errors].join('\n') };
}
