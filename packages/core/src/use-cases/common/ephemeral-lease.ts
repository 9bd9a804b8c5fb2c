import type { SandboxId } from '../../domain/sandbox/ids.ts';

/** The lease that the program holds with which an ephemeral sandbox goes. The kernel releases it when that program ends. */
export const ephemeralLease = (id: SandboxId): string => `ephemeral:${id}`;
