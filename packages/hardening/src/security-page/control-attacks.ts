import type { ControlName } from '@litterbox/core';

/** The attacks that would succeed without each control; docs/attacks.md names their tests. */
export const CONTROL_ATTACKS: Readonly<Record<ControlName, readonly string[]>> = {
  namespaces: ['A43', 'A49', 'A57', 'AX25'],
  user: ['A41', 'A53'],
  capabilities: ['A59'],
  'no-new-privileges': ['AX6'],
  'system-calls': ['A43', 'A45', 'A46', 'A47', 'A59', 'AX6', 'AX7'],
  network: ['A79'],
  files: ['A25', 'A27', 'A55', 'AX35'],
  'kernel-files': ['A41', 'A58', 'AX5'],
  environment: ['A42'],
  descriptors: ['A49', 'AX26', 'AX37'],
  memory: ['A51'],
  cpu: ['A51'],
  processes: ['A51'],
  disk: [],
};
