import type { Ports } from './ports.ts';

/** Use cases by name. Each constructor takes one object, with the ports and use cases that it needs by the names that they have here. */
export type UseCaseTable = Readonly<Record<string, new (needs: never) => object>>;

/** What the table gives a constructor: each port and each use case, by its name. */
export type Wired<Table extends UseCaseTable> = Ports & {
  readonly [Name in keyof Table]: InstanceType<Table[Name]>;
};

/** Refuses, when it is compiled, a use case that needs what neither the ports nor the table have. */
export function useCaseTable<Table extends UseCaseTable>(
  table: Table & { readonly [Name in keyof Table]: new (needs: Wired<Table>) => object },
): Table {
  return table;
}
