import * as z from 'zod';
import { shippedAgents } from './shipped-agents.ts';
import { isTable, Refused, refusedValue, setting } from './settings/setting.ts';
import { variableProblem } from './settings/variable-problem.ts';

/** Below a directory, without a way out of it. */
const RELATIVE = /^(?!\/)(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.@+-]+(?:\/[\w.@+-]+)*$/;
const NAME = /^[a-z](?:[a-z-]{0,30}[a-z])?$/;
const MAX_AGENTS = 64;
const EXAMPLE = 'Write [agents.mine] with program = "mine", args = ["-p", "{prompt}"] and endpoint = "anthropic".';

const text = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[^\0]*$/, 'text without NUL');
const relative = z.string().max(256).regex(RELATIVE, 'a path below the state directory');
const pointer = z
  .string()
  .regex(/^[\w-]+(?:\.[\w-]+){0,7}$/, 'keys with dots between them, such as usage.input_tokens');

const shape = z.strictObject({
  title: text.max(40).optional(),
  program: z.string().regex(/^(?!-)[\w./@+-]{1,256}$/, 'the name of a program, or its path inside'),
  args: z.array(text).max(64),
  acp: z.array(text).max(64).optional(),
  endpoint: z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'a kind of endpoint, or the name of one'),
  state: z.string().max(256).regex(RELATIVE, 'a directory below the home inside').optional(),
  env: z.record(z.string(), z.string().max(4096)).default({}),
  files: z.record(relative, z.string().max(16_384)).default({}),
  logins: z.array(relative).max(16).default([]),
  end: z.record(z.string(), z.string()).optional(),
  tokens: z
    .strictObject({ input: pointer, output: pointer, each: z.record(pointer, z.string()).optional() })
    .optional(),
});

/** Where a line of JSON has an agent's own count of tokens: keys with dots between them. */
export interface CountOfTokens {
  readonly input: string;
  readonly output: string;
  /** Keys and values of lines that count one turn each, so that all are added. Absent: the last line that counts has the sum. */
  readonly each?: Readonly<Record<string, string>> | undefined;
}

/** A program with a model, as it works in a sandbox without anybody. `{url}`, `{placeholder}` and `{state}` are filled in. */
export interface AgentTable {
  /** As people call it. */
  readonly title: string;
  /** Its name in the `PATH` inside, or its path there. */
  readonly program: string;
  /** With `{prompt}` in one of them. Prompts for a person are off. */
  readonly args: readonly string[];
  /** Its arguments where an editor speaks with it over the Agent Client Protocol. Absent: it does not speak that. */
  readonly acp?: readonly string[];
  /** The kind of endpoint that it needs for its model, or the name of one. */
  readonly endpoint: string;
  /** Its state directory, below the home of the sandbox. */
  readonly state: string;
  /** Variables that it has beside those of every command. */
  readonly env: Readonly<Record<string, string>>;
  /** Files in the state directory that it has to find, with their contents. */
  readonly files: Readonly<Record<string, string>>;
  /** Files in the state directory in which it keeps a login. */
  readonly logins: readonly string[];
  /** Keys and values of the line of JSON by which it tells of its end. Absent: it just ends. */
  readonly end?: Readonly<Record<string, string>>;
  /** Where it counts tokens itself. Absent: it does not. */
  readonly tokens?: CountOfTokens;
  /** Whether Litterbox ships it and drives the real program in its tests. */
  readonly origin: 'tried' | 'untried' | 'own';
}

const strings = { type: 'array', items: { type: 'string' } };
const texts = { type: 'object', additionalProperties: { type: 'string' } };
const schema = {
  type: 'object',
  description: 'Agents that work inside, by name. A key of one that Litterbox ships replaces that key alone.',
  additionalProperties: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      program: { type: 'string' },
      args: strings,
      acp: strings,
      endpoint: { type: 'string' },
      state: { type: 'string' },
      env: texts,
      files: texts,
      logins: strings,
      end: texts,
      tokens: { type: 'object', properties: { input: { type: 'string' }, output: { type: 'string' }, each: texts } },
    },
    additionalProperties: false,
  },
};

export function agentTables() {
  return setting(schema, (value): Readonly<Record<string, AgentTable>> | Refused => {
    if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a table of agents', EXAMPLE);
    const entries = Object.entries(value);
    if (entries.length > MAX_AGENTS)
      return refusedValue('CONFIG_VALUE', entries.length, `at most ${MAX_AGENTS} agents`, 'Remove some.');
    const agents: [string, AgentTable][] = [];
    for (const [name, entry] of entries) {
      const agent = readAgent(name, entry, 'own');
      if (agent instanceof Refused) return agent;
      agents.push([name, agent]);
    }
    return Object.fromEntries(agents);
  });
}

/** All that can be run: those of the configuration, and those that come along. */
export function agentsOf(own: Readonly<Record<string, AgentTable>>): Readonly<Record<string, AgentTable>> {
  const { tables, untried } = shippedAgents();
  const shipped = Object.entries(tables).map(([name, entry]): [string, AgentTable] => {
    const agent = readAgent(name, entry, untried.includes(name) ? 'untried' : 'tried');
    if (agent instanceof Refused) throw new Error(`agents.${name}: ${agent.reason}`); // a test reads them all
    return [name, agent];
  });
  return { ...Object.fromEntries(shipped), ...own };
}

function readAgent(name: string, entry: unknown, origin: AgentTable['origin']): AgentTable | Refused {
  const refused = (reason: string, path: readonly (string | number)[], code: Refused['code'] = 'CONFIG_VALUE') =>
    new Refused(code, reason, EXAMPLE, [name, ...path]);
  if (!NAME.test(name))
    return refusedValue('CONFIG_NAME', name, 'a name of 1 to 32 characters a-z and -', 'Rename the agent.', [name]);
  if (!isTable(entry)) return refused('want a table', [], 'CONFIG_TYPE');
  const { tables } = shippedAgents();
  const read = shape.safeParse({ ...(Object.hasOwn(tables, name) && tables[name]), ...entry });
  const [issue] = read.error?.issues ?? [];
  if (issue?.code === 'unrecognized_keys')
    return refused(
      `unknown, want one of ${Object.keys(shape.shape).join(', ')}`,
      issue.keys.slice(0, 1),
      'CONFIG_UNKNOWN_KEY',
    );
  if (issue) {
    const path = issue.path.filter((key) => typeof key !== 'symbol');
    const isMissing = issue.code === 'invalid_type' && !Object.hasOwn(entry, String(path[0]));
    return refused(isMissing ? 'is missing' : issue.message, path, isMissing ? 'CONFIG_MISSING' : 'CONFIG_VALUE');
  }
  const { data } = read;
  if (!data) return refused('is no agent', []);
  for (const [variable, value] of Object.entries(data.env)) {
    const problem = variableProblem(variable, value);
    if (problem) return new Refused(problem.code, problem.reason, problem.hint, [name, 'env', variable]);
  }
  if (data.args.join('\0').split('{prompt}').length !== 2) return refused('want {prompt} once', ['args']);
  const { title = name, state = `.${name}`, end, tokens, acp, ...rest } = data;
  return { ...rest, title, state, ...(end && { end }), ...(tokens && { tokens }), ...(acp && { acp }), origin };
}
