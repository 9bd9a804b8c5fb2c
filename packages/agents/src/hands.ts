import type { Sandbox, SandboxFiles } from 'litterbox';

/** What an agent works with: of a sandbox, what its commands and its changes of files need. */
export type Hands = Pick<Sandbox, 'attach' | 'name' | 'record'> & {
  readonly files: Pick<SandboxFiles, 'copy' | 'list' | 'mkdir' | 'read' | 'remove' | 'stat' | 'write'>;
};
