/** Where things are in a sandbox, besides its workspace. */
export const INSIDE = {
  home: '/home/agent',
  playground: '/playground',
  /** Leads to the workspace, wherever that is. */
  alias: '/src',
  /** FIFOs by which the host starts processes; read-only inside. */
  io: '/run/litterbox',
  /** Who programs are where those of the host mean nothing; outside it is an unprivileged user. */
  user: { uid: 1000, gid: 1000 },
} as const;
