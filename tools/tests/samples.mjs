/** Attacks of the gate: of each file of attacks one or two, those that stand nearest to the mechanism that
 * it is about; what the kit sees on every provider (AX25, AX26) and the fast tests do not miss (AX24) is left to the deep tests. */
export const gateAttacks = [
  'A01: ',
  'A05: ',
  'A10: ',
  'AX4: ',
  'A25: no path',
  'A26: over MCP',
  'A41: ',
  'A46: of all',
  'A53: ',
  'A79: a sandbox reaches',
  'A82: ',
  'A99: ',
  'AX21: ',
  'AX23: ',
  'AX35: what',
  'AX80: ',
  'secrets in files, objects, output$',
];

/** Faults of the gate: of each family one or two. */
export const gateFaults = [
  '^stale locks of refs in the store',
  '^the journal of an apply or merge torn',
  '^every failpoint of the product',
  '^the product reads no failpoint',
  '^a failpoint that throws',
  'without inodes every call',
  '^create killed at create.after-runtime ',
  '^a command killed at record.after-commit',
  '^an apply or merge \\S+ killed at integrate.after-link ',
  '^a delete killed at delete.after-runtime',
  '^fork killed at fork.after-runtime ',
  'whose filler was killed at pool.after-runtime',
  '^the command line SIGTERM at any time',
  'B02: ',
  'B28: ',
  'B34: ',
  'B43: ',
  'B67: ',
  '^repositories as they are found (names that shells|a submodule that is there|binary files)',
];
