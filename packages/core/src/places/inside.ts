/** Where things are in a sandbox, besides its workspace. */
export const INSIDE = {
  home: '/home/agent',
  playground: '/playground',
  /** Leads to the workspace, wherever that is. */
  alias: '/src',
  /** FIFOs by which the host starts processes; read-only inside. */
  io: '/run/litterbox',
} as const;
