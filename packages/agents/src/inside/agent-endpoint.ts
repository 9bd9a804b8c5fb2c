import { type AgentTable, LitterboxError, type SandboxRecord } from 'litterbox';

type Endpoint = NonNullable<SandboxRecord['policy']['endpoints']>[number];

/**
 * The way to the model of an agent in a sandbox: the first endpoint of that kind, or the one of that name.
 *
 * @throws LitterboxError `CONFIG_MISSING`
 */
export function agentEndpoint({ title, endpoint }: AgentTable, { slug, policy }: SandboxRecord): Endpoint {
  const { endpoints = [] } = policy;
  const found = endpoints.find(({ kind }) => kind === endpoint) ?? endpoints.find(({ name }) => name === endpoint);
  if (found) return found;
  const names = endpoints.map(({ name }) => name).join(', ');
  throw new LitterboxError(
    'CONFIG_MISSING',
    `${title} needs an endpoint of the kind ${endpoint}, and ${slug} has ${names === '' ? 'none' : `${names} alone`}.`,
    {
      operation: 'agent.run',
      hint: `Add [endpoints.model] with kind = "${endpoint}" and secret = "NAME" to .litterbox.toml, and run it in a new sandbox.`,
    },
  );
}
