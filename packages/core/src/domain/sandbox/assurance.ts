import type { ProviderKey } from './provider-key.ts';

/** The controls Litterbox reports on, in the order people read them. */
export const CONTROLS = [
  'namespaces',
  'user',
  'capabilities',
  'no-new-privileges',
  'system-calls',
  'network',
  'files',
  'kernel-files',
  'environment',
  'descriptors',
  'memory',
  'cpu',
  'processes',
  'disk',
] as const;

/** The name of a control, one of {@link CONTROLS}. */
export type ControlName = (typeof CONTROLS)[number];

/** One means of isolation, and what is in force of it. */
export interface Control {
  readonly name: ControlName;
  /**
   * `enforced`: read back from the kernel or engine. `weak`: something is in force that a determined program may exceed.
   * `absent`: nothing is.
   */
  readonly status: 'enforced' | 'weak' | 'absent';
  /** What is in force, one sentence with numbers. */
  readonly finding: string;
  /** The step that makes it enforced. Present unless enforced. */
  readonly remedy?: string;
}

/** What isolation is really in force for a sandbox, control by control. */
export interface Assurance {
  readonly provider: ProviderKey;
  /** How it is made: `overlay (root), bubblewrap 0.8.0`. */
  readonly mechanism: string;
  readonly controls: readonly Control[];
  /** What of the host can be read inside: path and why. */
  readonly readable: readonly { readonly path: string; readonly reason: string }[];
  /** Paths below those that look empty inside, because they may hold credentials. */
  readonly masked?: readonly string[];
  /** Programs in PATH that are links to files which cannot be read inside, and so do not run there. */
  readonly unreachable?: readonly { readonly path: string; readonly target: string }[];
}

/** Controls without which a sandbox is not handed out unless a person allowed it by name. */
export const MANDATORY_CONTROLS: readonly ControlName[] = CONTROLS.filter((name) => name !== 'disk');

/** The mandatory controls that are not enforced. Empty means the sandbox may be used. */
export function missingControls(assurance: Assurance): readonly Control[] {
  return assurance.controls.filter(
    (control) => control.status !== 'enforced' && MANDATORY_CONTROLS.includes(control.name),
  );
}

/**
 * The missing controls for which a sandbox is refused where nobody allowed it to go without.
 *
 * @param traits of the provider, as far as they count: where it says beforehand that the kernel's files tell of the machine, that alone refuses
 * nothing
 */
export function refusedControls(
  assurance: Assurance,
  { kernelFiles }: { readonly kernelFiles?: 'readable' },
): readonly Control[] {
  return missingControls(assurance).filter(
    ({ name, status }) => !(kernelFiles === 'readable' && name === 'kernel-files' && status === 'weak'),
  );
}
