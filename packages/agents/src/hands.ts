import type { Sandbox } from 'litterbox';

/** What an agent works with: of a sandbox, what its commands and its changes of files need. */
export type Hands = Pick<
  Sandbox,
  'attach' | 'copy' | 'list' | 'makeDirectory' | 'name' | 'read' | 'record' | 'remove' | 'status' | 'write'
>;
