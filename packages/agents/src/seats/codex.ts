import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { LitterboxError } from 'litterbox';
import { ExecServer } from '../codex/exec-server.ts';
import { listenExecServer } from '../codex/listen-exec-server.ts';
import { eventStream } from '../trial/event-stream.ts';
import type { Seat } from './seat.ts';

/** Where Codex looks for environments: a file there decides, and it does not look at the variable. */
export const ENVIRONMENTS = 'environments.toml';
/** What is left of Codex's own wall would stand inside the sandbox, where nobody enforces it. */
const ALL_OF_THE_SANDBOX = ['-c', 'sandbox_mode="danger-full-access"', '-c', 'approval_policy="never"'];
const USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  total_tokens: 2,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};

/**
 * Codex starts programs and reads files through an exec server when it is given one (`CODEX_EXEC_SERVER_URL`), and has no other hands then.
 * Seen with codex-cli 0.169.0.
 */
export const codexSeat: Seat = {
  id: 'codex',
  title: 'Codex',
  program: 'codex',
  refuse(environment) {
    const home = environment['CODEX_HOME'] ?? join(environment['HOME'] ?? homedir(), '.codex');
    const file = join(home, ENVIRONMENTS);
    if (!existsSync(file)) return;
    throw new LitterboxError('CONFLICT', `${file} decides where Codex works, so it would not work in the sandbox.`, {
      operation: 'agent.seat',
      hint: 'Take out what Litterbox put in (litterbox agent uninstall codex --hands), or move the file away for this session.',
    });
  },
  async open(place) {
    const listening = await listenExecServer(new ExecServer(place));
    return {
      environment: { CODEX_EXEC_SERVER_URL: listening.url },
      args: ALL_OF_THE_SANDBOX,
      [Symbol.asyncDispose]: async () => await listening[Symbol.asyncDispose](),
    };
  },
  trial: {
    args: ['exec', '--skip-git-repo-check', 'Run the command.'],
    prepare(home, modelUrl) {
      const directory = join(home, '.codex');
      mkdirSync(directory);
      const provider = ['[model_providers.trial]', 'name = "trial"', `base_url = "${modelUrl}/v1"`];
      const more = ['wire_api = "responses"', 'env_key = "TRIAL_KEY"', ''];
      const config = ['model = "trial"', 'model_provider = "trial"', ...provider, ...more].join('\n');
      writeFileSync(join(directory, 'config.toml'), config);
      return { CODEX_HOME: directory, TRIAL_KEY: 'none' };
    },
    answer(command) {
      const item = {
        type: 'function_call',
        id: 'fc_trial',
        call_id: 'call_trial',
        name: 'exec_command',
        arguments: JSON.stringify({ cmd: command }),
      };
      return eventStream([
        { type: 'response.created', response: { id: 'trial' } },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { id: 'trial', usage: USAGE } },
      ]);
    },
  },
};
