/** Labels by which whatever is ours is found again. */
export const LABELS = {
  /** Of the sandbox whose container or volume it is. */
  id: 'dev.litterbox.id',
  repository: 'dev.litterbox.repository',
  /** Names the sandbox whose network a container shares. That of sandboxes would make it a second container of the sandbox. */
  sidecar: 'dev.litterbox.sidecar',
  /** Of the volume with the files of an engine that does not see the host's, and of the container that it is reached through. */
  files: 'dev.litterbox.files',
  /** Of the container that shows whether an engine sees the host's files. */
  probe: 'dev.litterbox.probe',
  /** Of the container that clears a directory of root's: its path. */
  clears: 'dev.litterbox.clears',
} as const;

/**
 * All of our labels, for every container that is made: one inherits those of its image that it is not given, and whoever made the image
 * chose them. What is not meant is empty.
 */
export function labelsOf(meant: Partial<Record<keyof typeof LABELS, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(LABELS).map(([kind, label]) => [label, meant[kind as keyof typeof LABELS] ?? '']),
  );
}

/** Whether an image was made from a container of ours. */
export function hasLabels(labels: Readonly<Record<string, unknown>>): boolean {
  return Object.values(LABELS).some((label) => typeof labels[label] === 'string' && labels[label] !== '');
}
