import { LitterboxError } from '../domain/errors.ts';
import { SandboxId } from '../domain/ids.ts';
import { decodeRaw } from '../domain/raw-text.ts';
import type { ChangeMark } from '../ports/sandbox-runtime.ts';
import type { PlaceLimits } from './isolation.ts';

/** What `create` decided for a sandbox; written once into its directory. */
export interface PlaceMeta {
  readonly version: 1;
  readonly id: SandboxId;
  readonly slug: string;
  readonly repositoryId: string;
  readonly workdir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: PlaceLimits;
  readonly playground: string;
  readonly allowDegraded: boolean;
  /** Where change scans begin when nothing was recorded yet. */
  readonly firstMark?: ChangeMark;
}

/** @throws LitterboxError `SANDBOX_BROKEN` for bytes that are none. */
export function parsePlaceMeta(bytes: Uint8Array, place: string, provider: string): PlaceMeta {
  try {
    const meta = JSON.parse(decodeRaw(bytes)) as PlaceMeta;
    if (meta.version === 1 && SandboxId.is(meta.id) && typeof meta.workdir === 'string') return meta;
  } catch {
    // said below
  }
  throw new LitterboxError('SANDBOX_BROKEN', `The description of the sandbox (${place}) cannot be read.`, {
    operation: 'provider.open',
    provider,
    hint: 'Run litterbox recover on it: its recorded revisions are not here and not affected.',
  });
}
