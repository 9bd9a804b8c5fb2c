import type { EndpointPolicy } from '../domain/secrets/endpoint-policy.ts';
import type { SandboxRecord } from '../ports/state/state-store.ts';

/** Those that a setup has. None where the base is an agent's: what a setup runs is the tree's then. */
export function setupEndpoints({ endpoints = [], network }: SandboxRecord['policy']): readonly EndpointPolicy[] {
  return network.isWithheld ? [] : endpoints.filter(({ inSetup }) => inSetup);
}

/** `LITTERBOX_ENDPOINT_MODEL` is where a program inside finds the endpoint `model`, beside the variables that its kind has. */
export function endpointVariables(endpoints: readonly EndpointPolicy[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    endpoints.flatMap(({ name, inside, variables, placeholder }) => {
      const url = `http://127.0.0.1:${inside}`;
      const filled = (text: string) => text.replaceAll('{url}', url).replaceAll('{placeholder}', placeholder);
      return [
        [`LITTERBOX_ENDPOINT_${name.toUpperCase().replaceAll('-', '_')}`, url],
        ...Object.entries(variables).map(([variable, text]) => [variable, filled(text)]),
      ];
    }),
  );
}
