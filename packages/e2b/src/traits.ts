/** The end of a sandbox's time: it is deleted, frozen with its memory, or stopped without. */
export type AtEnd = 'kill' | 'pause' | 'stop';

/** Facts of the protocol about a sandbox, beyond those of Litterbox. They are kept in labels, so that the next server finds them. */
export interface Traits {
  readonly template: string;
  /** How long it may live from its last start, in seconds. */
  readonly timeoutSeconds: number;
  readonly atEnd: AtEnd;
  /** A request wakes it. */
  readonly autoResume: boolean;
  /** Words of the program that made it. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Names of our own labels begin so; metadata may not. */
export const OWN = 'e2b/';

export function labelsOf({ template, timeoutSeconds, atEnd, autoResume, metadata }: Traits): Record<string, string> {
  return {
    ...metadata,
    [`${OWN}template`]: template,
    [`${OWN}timeout`]: String(timeoutSeconds),
    [`${OWN}at-end`]: atEnd,
    ...(autoResume && { [`${OWN}auto-resume`]: 'yes' }),
  };
}

/** Nothing for a sandbox that was not made by this protocol. */
export function traitsOf(labels: Readonly<Record<string, string>> = {}): Traits | undefined {
  const template = labels[`${OWN}template`];
  const timeoutSeconds = Number(labels[`${OWN}timeout`]);
  const atEnd = labels[`${OWN}at-end`];
  if (template === undefined || !Number.isInteger(timeoutSeconds)) return undefined;
  if (atEnd !== 'kill' && atEnd !== 'pause' && atEnd !== 'stop') return undefined;
  const metadata = Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith(OWN)));
  return { template, timeoutSeconds, atEnd, autoResume: labels[`${OWN}auto-resume`] === 'yes', metadata };
}
