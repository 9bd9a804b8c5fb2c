const PREFIX = 'snapshot:';

/** A snapshot's name for programs: it says of which sandbox it is, so that it is found without a look at all others. */
export const snapshotId = (sandbox: string, name: string): string => `${PREFIX}${sandbox}/${name}`;

/** Whether a text is meant as such a name. No commit can be called so: a colon leads into its tree. */
export const isSnapshotId = (text: string): boolean => text.startsWith(PREFIX);

/** The parts of such a name. Nothing where it is none. */
export function parseSnapshotId(text: string): { readonly sandbox: string; readonly name: string } | undefined {
  const slash = text.indexOf('/');
  if (!isSnapshotId(text) || slash < 0) return undefined;
  return { sandbox: text.slice(PREFIX.length, slash), name: text.slice(slash + 1) };
}
