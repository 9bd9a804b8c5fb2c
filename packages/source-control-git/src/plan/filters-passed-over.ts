import { type ObjectId, type RiskyChange, visibleName } from '@litterbox/core/provider';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { attributesIn } from '../large-files/large-file-attributes.ts';
import { isOn } from '../person/user-config.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';

const KEY = /^filter\.(.+)\.(?:clean|process)$/s;

/** The person's filters that would have changed files on their way into a commit. Litterbox runs none on what an agent made. */
export interface FiltersPassedOver {
  /** Names of those that git goes on without. */
  readonly names: readonly string[];
  /** Files of those that git does not go on without, such as one that encrypts: they are committed as they are. */
  readonly risky: readonly RiskyChange[];
}

/** @param config of the person, with the keys `filter.*` */
export async function filtersPassedOver(
  store: Store,
  config: ReadonlyMap<string, string>,
  steps: readonly PathStep[],
  resultTree: ObjectId,
  signal: AbortSignal | undefined,
): Promise<FiltersPassedOver> {
  const filters = new Set<string>();
  for (const [key, value] of config) {
    const [, name] = KEY.exec(key) ?? [];
    if (name !== undefined && name !== 'lfs' && value !== '') filters.add(name);
  }
  const written = steps.filter((step) => step.new?.mode.startsWith('100') && step.new.oid !== step.old?.oid);
  if (filters.size === 0 || written.length === 0) return { names: [], risky: [] };
  const paths = written.map(({ path }): ByteString => path);
  const names = new Set<string>();
  const risky: RiskyChange[] = [];
  for (const [path, values] of await attributesIn(store, resultTree, ['filter'], paths, signal)) {
    const name = Buffer.from(values.get('filter') ?? '', 'latin1').toString();
    if (!filters.has(name)) continue;
    if (isOn(config.get(`filter.${name}.required`)))
      risky.push({ path: fromByteString(path), reasons: [`is taken without your filter ${visibleName(name, 60)}`] });
    else names.add(name);
  }
  return { names: [...names], risky };
}

/** The same files with what else there is to say of them. */
export function withRisks(risky: readonly RiskyChange[], more: readonly RiskyChange[]): readonly RiskyChange[] {
  const found = new Map(risky.map((risk) => [risk.path, risk.reasons]));
  for (const { path, reasons } of more) found.set(path, [...(found.get(path) ?? []), ...reasons]);
  return [...found].map(([path, reasons]) => ({ path, reasons }));
}
