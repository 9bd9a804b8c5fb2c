import { LitterboxError } from '../domain/errors/errors.ts';
import { GATE_PORT } from '../domain/sandbox/gate-port.ts';
import type { EndpointPolicy } from '../domain/secrets/endpoint-policy.ts';
import type { Config } from './config-schema.ts';

/** A number that Litterbox chooses: no program that has one of its own uses these. */
const FIRST_CHOSEN_PORT = 42_501;

/**
 * @param taken numbers of ports inside that others have
 * @param environment variables that every command has anyway
 * @throws LitterboxError `CONFIG_VALUE` for a secret that the file does not name, or that nothing uses, for a port that is somebody else's,
 *   and for a variable that would be set twice
 */
export function endpointsOf(
  { endpoints: configured, secrets, network }: Pick<Config, 'endpoints' | 'secrets' | 'network'>,
  taken: readonly number[],
  environment: Readonly<Record<string, string>>,
): readonly EndpointPolicy[] {
  const entries = Object.entries(configured);
  const isUsed = (name: string) => entries.some(([, { secret }]) => secret === name);
  const unused = Object.keys(secrets).find((name) => secrets[name]?.expose === undefined && !isUsed(name));
  if (unused !== undefined)
    throw refused(
      `secrets.${unused} is used by no endpoint, and exposed to no command.`,
      `Add [endpoints.NAME] with secret = "${unused}", or remove the secret.`,
    );
  const isOpen = network.setup !== 'none' || network.run !== 'none';
  const ports = new Set([...taken, ...(isOpen ? [GATE_PORT] : [])]);
  for (const [name, { port }] of entries) {
    if (port === undefined) continue;
    if (ports.has(port))
      throw refused(`endpoints.${name}.port: ${port} is the port of something else inside.`, 'Choose another number.');
    ports.add(port);
  }
  const variables = new Set(Object.keys(environment));
  let next = FIRST_CHOSEN_PORT;
  return entries.map(([name, { port, secret, variables: own, ...rest }]) => {
    const origin = Object.hasOwn(secrets, secret) ? secrets[secret] : undefined;
    if (!origin)
      throw refused(`endpoints.${name}.secret: there is no ${secret} below [secrets].`, `Add ${secret} there.`);
    if (origin.expose !== undefined)
      throw refused(
        `secrets.${secret}.expose: the endpoint ${name} sets this secret outside, so that no program has to hold it.`,
        'Remove expose, or give the programs a secret of their own.',
      );
    const twin = Object.keys(own).find((variable) => variables.has(variable));
    if (twin !== undefined)
      throw refused(
        `endpoints.${name}: the variable ${twin} is set elsewhere too, and programs would take the wrong one.`,
        'Remove it from container.env and --env, or give the endpoint an env table of its own.',
      );
    for (const variable of Object.keys(own)) variables.add(variable);
    while (ports.has(next)) next += 1;
    const inside = port ?? next;
    ports.add(inside);
    return { name, inside, ...rest, secret: { name: secret, origin }, variables: own };
  });
}

function refused(what: string, hint: string): LitterboxError {
  return new LitterboxError('CONFIG_VALUE', what, { operation: 'config.policy', hint });
}
