import type { EngineFacts } from './engine-facts.ts';
import type { SandboxMeta } from './sandbox-meta.ts';

/** Whether the engine that answers can be the one that a sandbox was made on. */
export function isOwnEngine({ engineRoot = '' }: SandboxMeta, { rootDirectory }: EngineFacts): boolean {
  return engineRoot === '' || rootDirectory === '' || engineRoot === rootDirectory;
}
