import type { SandboxRecord } from '../ports/state/state-store.ts';

/** `LITTERBOX_PORT_WEB` is where a program inside listens, `LITTERBOX_FWD_PORT_WEB` where a person's browser finds it. */
export function portVariables({ ports = [] }: Pick<SandboxRecord, 'ports'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ports.flatMap(({ name, inside, outside }) => {
      const variable = name.toUpperCase().replaceAll('-', '_');
      return [
        [`LITTERBOX_PORT_${variable}`, String(inside)],
        [`LITTERBOX_FWD_PORT_${variable}`, String(outside)],
      ];
    }),
  );
}
