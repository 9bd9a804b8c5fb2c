import { type GatePolicy } from '@litterbox/core/provider';
import type { Destination } from './parse-connect.ts';

/** What the rules say of a destination. */
export type Verdict =
  | { readonly isAllowed: true; readonly rule: string; readonly isWildcard: boolean; readonly mayBePrivate: boolean }
  /** Without a rule none of the list allows it. */
  | { readonly isAllowed: false; readonly rule?: string };

/** HTTPS: what a rule of the list means that names no port. */
const USUAL_PORT = 443;

/** Compares label by label, never by the ends of texts: `evil-example.org` is not in `*.example.org`. */
export function findRule({ allow, deny, allowPrivate = [] }: GatePolicy, { host, port }: Destination): Verdict {
  const labels = host.split('.');
  const denying = deny.map(parsed).find((rule) => covers(rule, labels) && (rule.port ?? port) === port);
  if (denying) return { isAllowed: false, rule: denying.text };
  const allowedBy = (rules: readonly string[]) =>
    rules.map(parsed).find((rule) => covers(rule, labels) && (rule.port ?? USUAL_PORT) === port);
  // A star would let whoever serves the names below it choose a neighbour.
  const named = allowedBy(allowPrivate.filter((rule) => !rule.startsWith('*')));
  const allowing = named ?? allowedBy(allow);
  if (!allowing) return { isAllowed: false };
  return { isAllowed: true, rule: allowing.text, isWildcard: allowing.isWildcard, mayBePrivate: named !== undefined };
}

interface Rule {
  readonly text: string;
  readonly isWildcard: boolean;
  readonly labels: readonly string[];
  readonly port: number | undefined;
}

function parsed(text: string): Rule {
  const [name = '', digits] = text.split(':');
  const isWildcard = name.startsWith('*.');
  return {
    text,
    isWildcard,
    labels: (isWildcard ? name.slice(2) : name).split('.'),
    port: digits === undefined ? undefined : Number(digits),
  };
}

function covers({ isWildcard, labels: wanted }: Rule, labels: readonly string[]): boolean {
  const more = labels.length - wanted.length;
  if (isWildcard ? more < 1 : more !== 0) return false;
  return wanted.every((label, index) => label === labels[index + more]);
}
