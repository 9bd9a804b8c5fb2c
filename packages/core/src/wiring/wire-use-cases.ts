import type { Ports } from './ports.ts';
import type { UseCaseTable, Wired } from './use-case-table.ts';

/**
 * The ports and use cases by name, each use case made when it is first asked for, and once.
 *
 * @param make for a container, which keeps them itself
 */
export function wireUseCases<Table extends UseCaseTable>(
  ports: Ports,
  table: Table,
  make?: (UseCase: new (needs: never) => object) => object,
): Wired<Table> {
  const wired = { ...ports } as Wired<Table>;
  for (const [name, UseCase] of Object.entries(table)) {
    Object.defineProperty(wired, name, {
      configurable: true,
      enumerable: true,
      get() {
        const value = make?.(UseCase) ?? new UseCase(wired as never);
        Object.defineProperty(wired, name, { value, enumerable: true });
        return value;
      },
    });
  }
  return wired;
}
