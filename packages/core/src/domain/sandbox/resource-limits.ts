/** A ceiling a provider may be asked to enforce. */
export type LimitName = 'memoryBytes' | 'cpus' | 'processes' | 'openFiles' | 'diskBytes' | 'diskBytesPerSecond';

/** What people know a ceiling by: its key in the configuration. */
export const LIMIT_KEYS: Readonly<Record<LimitName, string>> = {
  memoryBytes: 'limits.memory',
  cpus: 'limits.cpus',
  processes: 'limits.processes',
  openFiles: 'limits.open-files',
  diskBytes: 'limits.disk',
  diskBytesPerSecond: 'limits.disk-io',
};

/** What a sandbox may use at most. An absent member asks for the provider's safe default, never for "no limit". */
export interface ResourceLimits {
  readonly memoryBytes?: number;
  /** Processors, fractions allowed: 0.5 is half of one. */
  readonly cpus?: number;
  readonly processes?: number;
  /** Open descriptors per process. */
  readonly openFiles?: number;
  /** What the writable layers may hold together. */
  readonly diskBytes?: number;
  readonly diskBytesPerSecond?: number;
}
