import type { NetworkPolicy } from './policy.ts';

/** More are told by number: the list is part of every description. */
const MAX_SHOWN = 12;

/** What commands may reach, as rules. Empty: nothing. */
export function reachable({ run, allow = [], allowPrivate = [] }: NetworkPolicy): readonly string[] {
  return run === 'none' ? [] : [...new Set([...allow, ...allowPrivate])];
}

/** As part of what a tool answers. */
export function reachableFact(network: NetworkPolicy): { readonly reachable?: string[] } {
  const rules = reachable(network);
  return rules.length > 0 ? { reachable: [...rules] } : {};
}

/** The rules in a sentence. */
export function reachableText(rules: readonly string[]): string {
  const more = rules.length - MAX_SHOWN;
  return `${rules.slice(0, MAX_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
