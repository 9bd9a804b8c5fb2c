import { type AgentTable, agentsOf, LitterboxError, type Sandbox, visible } from 'litterbox';
import { passedOn } from '../passed-on.ts';
import { filled } from './filled.ts';

type Endpoint = NonNullable<Sandbox['record']['policy']['endpoints']>[number];

/** Paths, one a line: more is nothing of ours. */
const MAX_CHARACTERS = 65_536;

/** A sandbox in which an agent is about to work. */
export interface Preparing {
  readonly sandbox: Pick<Sandbox, 'attach' | 'record' | 'name'>;
  /** By which log and revisions tell of the agent. */
  readonly name: string;
  readonly signal: AbortSignal | undefined;
}

/** An agent as it is started in a sandbox. */
export interface PreparedAgent {
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Looks inside: where the home and the program are, and whether a file of a login holds more than the placeholder. Answers in lines. Its
 * arguments: program, state directory, placeholder, then logins, each below the home and below the workspace.
 */
const LOOK = `program=$1 state=$2 placeholder=$3; shift 3
mkdir -p "$HOME/$state" || exit 1
printf 'home %s\\n' "$HOME"
found=$(command -v -- "$program") && printf 'program %s\\n' "$found"
for login; do for file in "$HOME/$login" "$PWD/$login"; do
[ -e "$file" ] || [ -L "$file" ] || continue
if [ ! -f "$file" ] || tr -c 'A-Za-z0-9_.~+/=-' '\\n' <"$file" | grep -E '.{16,}' | grep -qvxF -- "$placeholder"; then printf 'login %s\\n' "$file"; fi
done; done; true`;

/** Arguments: directory, then names and contents in turn. A link in the place of a file is replaced, never followed. */
const WRITE = `cd "$1" || exit 1; shift
while [ $# -gt 1 ]; do
case $1 in */*) mkdir -p "\${1%/*}" || exit 1;; esac
rm -rf "$1" && printf '%s' "$2" >"$1" || exit 1
shift 2; done`;

/**
 * Gives an agent a state directory of its own in the sandbox, with the files that it has to find.
 *
 * @throws LitterboxError `PERMISSION_DENIED` where a file inside holds somebody's login; `TOOL_MISSING` without its program
 */
export async function prepareAgent(
  preparing: Preparing,
  agent: AgentTable,
  endpoint: Endpoint,
  prompt: string,
): Promise<PreparedAgent> {
  const { sandbox } = preparing;
  const { placeholder, inside } = endpoint;
  const logins = [agent, ...Object.values(agentsOf({}))].flatMap((one) =>
    one.logins.map((path) => `${one.state}/${path}`),
  );
  const looked = await script(preparing, agent, [LOOK, agent.program, agent.state, placeholder, ...new Set(logins)]);
  const lines = looked.split('\n');
  const after = (word: string) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
  const login = after('login');
  if (login !== undefined)
    throw new LitterboxError(
      'PERMISSION_DENIED',
      `${visible(login)} in ${sandbox.name} holds a login of ${agent.title} or of another agent, and none may be inside.`,
      {
        operation: 'agent.run',
        hint: `Delete that file in the sandbox, and keep it out of include and of the repository. The endpoint ${endpoint.name} sets the key outside.`,
      },
    );
  const program = after('program');
  if (program === undefined)
    throw new LitterboxError('TOOL_MISSING', `There is no program ${agent.program} in ${sandbox.name}.`, {
      operation: 'agent.run',
      hint: 'Install it into the image with container.install-command. Without an image: install it outside of your home, into your PATH, and stop and resume the sandbox.',
    });
  const state = `${after('home') ?? '/root'}/${agent.state}`;
  const fill = (text: string) => filled(text, { url: `http://127.0.0.1:${inside}`, placeholder, state });
  const files = Object.entries(agent.files).flatMap(([path, text]) => [path, fill(text)]);
  if (files.length > 0) await script(preparing, agent, [WRITE, state, ...files]);
  return {
    command: [agent.program, ...agent.args.map((text) => fill(text).replace('{prompt}', () => prompt))],
    env: Object.fromEntries(Object.entries(agent.env).map(([name, text]) => [name, fill(text)])),
  };
}

/** As a call of the agent, which the log has by a name. */
async function script(
  { sandbox, name, signal }: Preparing,
  { title }: AgentTable,
  [text = '', ...args]: readonly string[],
): Promise<string> {
  await using attached = await sandbox.attach(
    {
      command: ['sh', '-c', text, 'sh', ...args],
      noInput: true,
      mergeOutput: true,
      tool: name,
      subject: '(prepare)',
      message: `Prepare ${title}`,
    },
    { signal },
  );
  let printed = '';
  const decoder = new TextDecoder();
  const { exit } = await passedOn(attached.process, async ({ bytes }) => {
    if (printed.length < MAX_CHARACTERS) printed += decoder.decode(bytes, { stream: true });
  });
  await attached.finish(exit);
  if (exit.code === 0) return printed;
  throw new LitterboxError(
    'SETUP_FAILED',
    `${title} could not be prepared in ${sandbox.name}: ${visible(printed.slice(0, 500))}`,
    {
      operation: 'agent.run',
      hint: 'Look at the home of the sandbox: its disk may be full.',
    },
  );
}
