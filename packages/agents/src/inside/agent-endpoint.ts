import { type AgentTable, LitterboxError } from 'litterbox';

interface Endpoint {
  readonly name: string;
  readonly kind?: string | undefined;
}

/**
 * The way to the model of an agent: the first endpoint of that kind, or the one of that name.
 *
 * @param endpoints those of a sandbox, or those that a new one would have
 * @param whose the sandbox or the file, for the message
 * @throws LitterboxError `CONFIG_MISSING`
 */
export function agentEndpoint<One extends Endpoint>(
  { title, endpoint }: Pick<AgentTable, 'title' | 'endpoint'>,
  endpoints: readonly One[],
  whose: string,
): One {
  const found = endpoints.find(({ kind }) => kind === endpoint) ?? endpoints.find(({ name }) => name === endpoint);
  if (found) return found;
  const names = endpoints.map(({ name }) => name).join(', ');
  throw new LitterboxError(
    'CONFIG_MISSING',
    `${title} needs an endpoint of the kind ${endpoint}, and ${whose} has ${names === '' ? 'none' : `${names} alone`}.`,
    {
      operation: 'agent.run',
      hint: `Add [endpoints.model] with kind = "${endpoint}" and secret = "NAME" to .litterbox.toml, and run it in a new sandbox.`,
    },
  );
}
