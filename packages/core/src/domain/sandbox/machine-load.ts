/** What a machine has to spare, as it says itself. */
export interface MachineLoad {
  /** All of its memory, in bytes. */
  readonly memoryBytes: number;
  /** What programs could get of it without others being swapped out, in bytes. */
  readonly availableBytes: number;
  /** At least 1. */
  readonly processors: number;
  /** Programs that ran or waited for a processor, on average over the last minute; at least 0. */
  readonly load: number;
  /** How long the question and its answer took, once the machine was connected; 0 for this one. */
  readonly roundTripMs: number;
}
