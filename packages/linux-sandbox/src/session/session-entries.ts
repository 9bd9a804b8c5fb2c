/** Shell text, with a sandbox's unfinished directory as the current one: makes what its sessions talk through and are told apart by. */
export const MAKE_SESSION_ENTRIES = `mkdir -m 711 io
mkdir root home ws
mkfifo -m 600 stop.fifo
: >start.lock; : >alive.lock; : >clients.lock`;
