import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { LitterboxError } from 'litterbox';
import { ExecServer } from '../codex/exec-server.ts';
import { listenExecServer } from '../codex/listen-exec-server.ts';
import { HOME } from '../codex/exec-session.ts';
import { ownDirectory } from '../own-directory.ts';
import { piExtension } from '../pi/pi-extension.ts';
import { anthropicTurn } from '../trial/anthropic-turn.ts';
import { instructionsOf } from './instructions-of.ts';
import type { Seat } from './seat.ts';

/** What a person could take the hands out of the sandbox with. */
const OPTIONS = ['--extension', '-e', '--approve', '-a', '--no-tools', '-nt'];
/** As pi looks for them; the first that is there. */
const INSTRUCTIONS = ['AGENTS.override.md', 'AGENTS.md', 'AGENTS.MD', 'CLAUDE.md', 'CLAUDE.MD'];
const COMMANDS = ['install', 'remove', 'uninstall', 'update', 'list', 'config', 'auth', 'mcp'];

/**
 * pi takes its tools from an extension of ours, and has none of its own (`--no-builtin-tools`): where the extension cannot be loaded, it has
 * no hands at all. Extensions of the person and of the project are off, as they act on this machine; servers of MCP stay. Seen with pi 1.6.0.
 */
export const piSeat: Seat = {
  id: 'pi',
  title: 'pi',
  program: 'pi',
  refuse(_environment, args) {
    const end = args.indexOf('--');
    const options = end === -1 ? args : args.slice(0, end);
    const word = COMMANDS.find((one) => one === options[0]) ?? options.find((one) => OPTIONS.includes(one));
    if (word === undefined) return;
    throw new LitterboxError('UNSUPPORTED', `With ${word}, pi would not work in the sandbox.`, {
      operation: 'agent.seat',
      hint: 'Leave it out, or start pi without Litterbox.',
    });
  },
  async open(place) {
    const directory = await ownDirectory('seat'); // for its owner alone
    const listening = await listenExecServer(new ExecServer(place, 'pi'));
    const [extension, prompt] = ['litterbox.mjs', 'prompt.md'].map((name) => join(directory, name)) as [string, string];
    try {
      await writeFile(extension, piExtension({ url: listening.url, shell: place.shell, home: HOME }), { mode: 0o600 });
      const project = await instructionsOf(place.hands, INSTRUCTIONS);
      await writeFile(prompt, Buffer.concat([...ownInstructions(process.env), project]));
    } catch (error) {
      await listening[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
    return {
      environment: {},
      args: [
        '--no-builtin-tools',
        '--no-extensions',
        '--extension',
        'builtin:mcp',
        '--extension',
        extension,
        '--no-approve',
        '--no-context-files',
        '--append-system-prompt',
        prompt,
      ],
      async [Symbol.asyncDispose]() {
        await listening[Symbol.asyncDispose]();
        await rm(directory, { recursive: true, force: true });
      },
    };
  },
  trial: {
    args: ['--print', '--model', 'trial/trial', 'Run the command.'],
    prepare(home, modelUrl) {
      const directory = join(home, '.pi', 'agent');
      mkdirSync(directory, { recursive: true });
      const model = { id: 'trial', name: 'trial', contextWindow: 100_000, maxTokens: 1000 };
      const trial = { baseUrl: modelUrl, api: 'anthropic-messages', apiKey: 'none', models: [model] };
      writeFileSync(join(directory, 'models.json'), JSON.stringify({ providers: { trial } }));
      return { PI_OFFLINE: '1' };
    },
    answer: (command, body) => anthropicTurn('bash', { command }, body),
  },
};

/** The person's own ones, for every project: pi is told to read none, because it would read those of the work tree too. */
export function ownInstructions(environment: NodeJS.ProcessEnv): readonly Buffer[] {
  const own = environment['PI_CODING_AGENT_DIR']?.replace(/^~(?=\/|$)/, homedir());
  const directory = own || join(environment['HOME'] ?? homedir(), '.pi', 'agent');
  const first = (names: readonly string[]) =>
    names.map((name) => join(directory, name)).find((path) => existsSync(path));
  return [first(['APPEND_SYSTEM.md']), first(INSTRUCTIONS)].flatMap((path) =>
    path === undefined ? [] : [readFileSync(path), Buffer.from('\n\n')],
  );
}
