import type { SandboxRecord } from '../ports/state/state-store.ts';

/** `LITTERBOX_ENDPOINT_MODEL` is where a program inside finds the endpoint `model`, beside the variables that its kind has. */
export function endpointVariables({ policy }: Pick<SandboxRecord, 'policy'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (policy.endpoints ?? []).flatMap(({ name, inside, variables, placeholder }) => {
      const url = `http://127.0.0.1:${inside}`;
      const filled = (text: string) => text.replaceAll('{url}', url).replaceAll('{placeholder}', placeholder);
      return [
        [`LITTERBOX_ENDPOINT_${name.toUpperCase().replaceAll('-', '_')}`, url],
        ...Object.entries(variables).map(([variable, text]) => [variable, filled(text)]),
      ];
    }),
  );
}
